// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package reply

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// StreamError is a failure as a server-sent event of a format. The SDKs of the format raise it as an error, whatever the
// body's shape was that it comes from.
func StreamError(format dialect.Format, f dialect.StreamFailure) []byte {
	switch format {
	case dialect.FormatMessages:
		return event("error", messagesError(f))
	case dialect.FormatResponses:
		return event("error", responsesError(f))
	case dialect.FormatGenerate:
		return event("", documentOr(f, googleError{googleDetail{f.Status, f.Message, googleName(f.Status)}}))
	case dialect.FormatCohere:
		return event("message-end", JSON(cohereEnd{Type: "message-end", Delta: cohereDelta{"ERROR", f.Message}}))
	default:
		return event("", documentOr(f, chatError{chatDetail{f.Message, chatType(f.Status), nil, strconv.Itoa(f.Status)}}))
	}
}

// event is a server-sent event, whose data is one line.
func event(name string, data []byte) []byte {
	var out bytes.Buffer
	if name != "" {
		out.WriteString("event: " + name + "\n")
	}
	out.WriteString("data: ")
	out.Write(data)
	out.WriteString("\n\n")
	return out.Bytes()
}

// documentOr is the failure's own document where it is one object with an error, else the other.
func documentOr(f dialect.StreamFailure, other any) []byte {
	if object, ok := erroneous(f.Document); ok {
		return object
	}
	return JSON(other)
}

// erroneous is a document on one line, if it is an object with an error, or an array of one, as Google answers where a
// stream was asked for.
func erroneous(document []byte) ([]byte, bool) {
	if !json.Valid(document) {
		return nil, false
	}
	v := gjson.ParseBytes(document)
	if v.IsArray() {
		v = v.Get("0")
	}
	if e := v.Get("error"); !v.IsObject() || !e.IsObject() && (e.Type != gjson.String || e.Str == "") {
		return nil, false
	}
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(v.Raw)); err != nil {
		return nil, false
	}
	return out.Bytes(), true
}

// messagesError is Anthropic's: the body of a failure is its event, too.
func messagesError(f dialect.StreamFailure) []byte {
	object, ok := erroneous(f.Document)
	if ok && gjson.GetBytes(object, "type").Str == "error" && gjson.GetBytes(object, "error.type").Type == gjson.String {
		return object
	}
	return JSON(messagesEvent{"error", messagesDetail{messagesType(f.Status), f.Message}})
}

// responsesError is the event of OpenAI's responses, which numbers its events; its error stands as in a body.
func responsesError(f dialect.StreamFailure) []byte {
	object := documentOr(f, chatError{chatDetail{f.Message, chatType(f.Status), nil, strconv.Itoa(f.Status)}})
	return JSON(responsesEvent{Type: "error", Error: json.RawMessage(gjson.GetBytes(object, "error").Raw)})
}
