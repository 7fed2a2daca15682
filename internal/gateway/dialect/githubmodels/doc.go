// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package githubmodels is the dialect of GitHub Models: OpenAI's API below a path of its own, or of an organisation's,
// with windows in headers and a header that names the limit that refused.
//
// It imports the standard library, the dialect contract and package compatible.
package githubmodels
