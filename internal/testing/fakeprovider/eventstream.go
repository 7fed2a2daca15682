// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"bytes"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// awsStream frames events as AWS event stream messages.
type awsStream struct{}

func (awsStream) contentType() string { return "application/vnd.amazon.eventstream" }

func (awsStream) event(buf *bytes.Buffer, e event, _ int) {
	kind, key := "event", ":event-type"
	if e.exception {
		kind, key = "exception", ":exception-type"
	}
	message := eventstream.Message{Payload: e.encoded()}
	message.Headers.Set(key, eventstream.StringValue(e.name))
	message.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	message.Headers.Set(":message-type", eventstream.StringValue(kind))
	if err := eventstream.NewEncoder().Encode(buf, message); err != nil {
		panic(err) // a message of our own, which always can be encoded
	}
}

func (awsStream) end(*bytes.Buffer) {}
