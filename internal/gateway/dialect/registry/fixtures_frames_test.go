// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// frameEvents turns lines of {"event": NAME, "payload": …} into an AWS event stream.
func frameEvents(t *testing.T, where string, lines []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e struct {
			Event, Exception string
			Payload          json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%s: %q: %v", where, line, err)
		}
		if err := eventstream.NewEncoder().Encode(&out, frame(e.Event, e.Exception, e.Payload)); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	return out.Bytes()
}

func frame(event, exception string, payload []byte) eventstream.Message {
	m := eventstream.Message{Payload: payload}
	set := func(name, value string) { m.Headers.Set(name, eventstream.StringValue(value)) }
	if exception != "" {
		set(":exception-type", exception)
		set(":message-type", "exception")
	} else {
		set(":event-type", event)
		set(":message-type", "event")
	}
	set(":content-type", "application/json")
	return m
}
