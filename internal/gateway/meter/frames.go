// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/eventstream"
)

// frameMeter meters an AWS event stream. What is none passes unread.
type frameMeter struct {
	reading
	frames eventstream.Decoder
}

func (m *frameMeter) Write(p []byte) []byte {
	m.frames.Write(p, m)
	m.content = m.content || m.frames.Broken()
	return p
}

// Close ends the stream. Of what could not be read nobody but the transfer knows the end.
func (m *frameMeter) Close() []byte {
	m.complete = m.complete || m.frames.Broken()
	return nil
}

// Message implements eventstream.Handler.
func (m *frameMeter) Message(msg eventstream.Message) {
	switch string(msg.Header(":message-type")) {
	case "exception":
		m.fail(awsError(msg.Header(":exception-type"), gjson.GetBytes(msg.Payload, "message").Str))
	case "error":
		m.fail(awsError(msg.Header(":error-code"), string(msg.Header(":error-message"))))
	default:
		if msg.Large {
			m.delta(0)
			return
		}
		m.event(msg.Header(":event-type"), msg.Payload)
	}
}

// awsError is an error document as the provider sends it with other statuses. In streams the name of the
// exception is that of a member, which begins with a small letter.
func awsError(name []byte, message string) []byte {
	code := string(name)
	if code != "" && code[0] >= 'a' && code[0] <= 'z' {
		code = string(code[0]-'a'+'A') + code[1:]
	}
	out := gjson.AppendJSONString([]byte(`{"__type":`), code)
	return append(gjson.AppendJSONString(append(out, `,"message":`...), message), '}')
}
