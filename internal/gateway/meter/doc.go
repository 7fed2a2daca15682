// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package meter reads what a response was billed, and whether it came to its end, while its bytes pass.
//
// A table (shapes) holds for each format the reader of its events and documents and the few members that these
// look at; a second one (framings) tells by the response's content type how events are divided: server-sent
// events, AWS messages, lines, the elements of an array, or one document; where a stream of server-sent events was asked for
// and the type is none of a stream, the first byte tells those from a document. An event too large to be kept is
// watched as it passes, and a small document of those members is read in its place. Deltas of chat, responses
// and messages are searched for the names that matter, never parsed.
//
// An exception in an AWS stream is handed to the classifier as {"__type":"ThrottlingException","message":…},
// the form it has with other statuses.
//
// Invariants: the bytes handed on are the bytes that came, at once, but for the one usage chunk that was asked
// for on the client's behalf; what is found does not depend on how they were cut; an event that broke off is
// none; a cumulative value replaces the one before it and is never added; null, absent and negative values
// replace nothing; memory is bounded; what cannot be read is unknown and passes.
//
// It imports the standard library, gjson, sse, eventstream, jsonframe, jsonscan and the dialect contract.
package meter
