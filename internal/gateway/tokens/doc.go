// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package tokens says how many tokens a text is expected to have, from the kinds of its characters: words, digits,
// punctuation, scripts. A Sample does so for the texts of a whole request at a bounded cost.
//
// The weights of the kinds were fitted to OpenAI's o200k vocabulary; what other vocabularies make of the same text is
// a factor that is learned from usage. Built with the tag tokenizer, the texts of OpenAI's models are counted by that
// vocabulary instead; without the tag nothing of it is linked.
//
// Invariants: nothing fails or panics on any bytes; the cost of a Sample is bounded whatever it is given.
//
// It imports the standard library and the scanner, and under the tag the tokenizer.
package tokens
