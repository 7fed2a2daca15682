// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package dialects writes the tables of docs/dialects.md from the facts of the dialects and from what they do with the
// responses of their fixtures, and checks that the document is up to date, that it has a part for each dialect, and
// that its policies are valid. It holds tests only.
package dialects
