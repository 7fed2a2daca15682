// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package hostile holds the fuzz targets that every dialect must withstand: whatever a provider or an app sends, the
// reader neither panics nor gives a negative wait, passes bytes unchanged, and repeats no key. It is apart from the
// registry's own tests so that it links little and its instrumented build stays quick.
package hostile
