// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package corpus makes texts of the kinds that prompts are made of, for tests of what they cost: prose in three
// languages, code, JSON, logs, numbers, base64 and emoji.
//
// Texts depend on the given source of chance alone. It imports the standard library only.
package corpus
