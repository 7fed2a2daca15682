// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

type messageStart struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
}

type blockStart struct {
	Type         string    `json:"type"`
	Index        int       `json:"index"`
	ContentBlock textBlock `json:"content_block"`
}

type blockDelta struct {
	Type  string    `json:"type"`
	Index int       `json:"index"`
	Delta textDelta `json:"delta"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type blockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type messageDelta struct {
	Type  string         `json:"type"`
	Delta stopDelta      `json:"delta"`
	Usage anthropicUsage `json:"usage"`
}

type stopDelta struct {
	StopReason   string  `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

type typeOnly struct {
	Type string `json:"type"`
}

// messageStream: the usage of message_start counts one token of output already, that of message_delta is
// cumulative.
func messageStream(c *call) events {
	return func(yield func(event) bool) {
		if !c.messageBegin(yield) {
			return
		}
		for text, n := range c.pieces() {
			piece := blockDelta{"content_block_delta", 0, textDelta{"text_delta", text}}
			if !yield(event{name: piece.Type, data: piece, tokens: n, content: true}) {
				return
			}
		}
		c.messageEnd(yield)
	}
}

func (c *call) messageBegin(yield func(event) bool) bool {
	start := messageStart{"message_start", message{
		ID: "msg_" + c.id, Type: "message", Role: "assistant", Model: c.req.Model,
		Content: []textBlock{}, Usage: c.fullUsage(min(1, c.size.output)),
	}}
	ping, block := typeOnly{"ping"}, blockStart{"content_block_start", 0, textBlock{Type: "text"}}
	return yield(event{name: start.Type, data: start, preamble: true}) &&
		yield(event{name: ping.Type, data: ping, preamble: true}) &&
		yield(event{name: block.Type, data: block})
}

func (c *call) messageEnd(yield func(event) bool) {
	stop, end := blockStop{"content_block_stop", 0}, typeOnly{"message_stop"}
	last := messageDelta{
		"message_delta", stopDelta{StopReason: c.finishReason("end_turn", "max_tokens")}, c.anthropicUsage(c.size.output),
	}
	_ = yield(event{name: stop.Type, data: stop}) &&
		yield(event{name: last.Type, data: last}) &&
		yield(event{name: end.Type, data: end})
}
