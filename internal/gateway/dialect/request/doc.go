// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package request reads what a call may cost from its body, and asks a stream for its usage by a splice.
//
// It knows the members that the formats meter by, in one pass, without decoding the body: images, audio and
// documents cost a constant instead of their base64, tool definitions and tool calls their whole length as
// compact JSON, other members their strings. The members of a body itself are a table for each format, since
// names such as input, text, documents and images mean another thing in each; the members of content parts
// are one table, since there no two formats disagree.
//
// A form (multipart/form-data) costs its text fields, and each of its files a constant by its type; a body
// that is itself audio, a picture or a video costs the constant. Whatever else is no JSON object costs its
// length.
//
// What a provider adds on its side (a prompt it stores, an earlier response, documents it searches) stands in
// no body; only the correction that is learned from usage knows it.
//
// Invariants: it never fails; text never costs more than the body's length, nor does space or the way names
// are escaped change it; nothing is negative; every byte outside the splice stays as it was.
//
// It imports the standard library, the scanner, package tokens and the dialect contract.
package request
