// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

// responsesEvent is an event of a Responses stream; which fields it has depends on its type.
type responsesEvent struct {
	Type           string      `json:"type"`
	SequenceNumber int         `json:"sequence_number"`
	Response       *response   `json:"response,omitempty"`
	OutputIndex    *int        `json:"output_index,omitempty"`
	Item           *outputItem `json:"item,omitempty"`
	ItemID         string      `json:"item_id,omitempty"`
	ContentIndex   *int        `json:"content_index,omitempty"`
	Part           *outputPart `json:"part,omitempty"`
	Delta          *string     `json:"delta,omitempty"`
	Text           *string     `json:"text,omitempty"`
	Logprobs       []any       `json:"logprobs,omitzero"`
}

// responsesStreamer numbers the events.
type responsesStreamer struct {
	*call
	yield func(event) bool
	next  int
}

func (rs *responsesStreamer) send(e responsesEvent, out event) bool {
	e.SequenceNumber = rs.next
	rs.next++
	out.name, out.data = e.Type, e
	return rs.yield(out)
}

func responsesStream(c *call) events {
	return func(yield func(event) bool) {
		rs := &responsesStreamer{call: c, yield: yield}
		_ = rs.begin() && rs.content() && rs.finish()
	}
}

func (rs *responsesStreamer) begin() bool {
	doc := rs.response("in_progress")
	return rs.send(responsesEvent{Type: "response.created", Response: &doc}, event{preamble: true}) &&
		rs.send(responsesEvent{Type: "response.in_progress", Response: &doc}, event{preamble: true})
}

func (rs *responsesStreamer) content() bool {
	zero, item, part := 0, rs.outputItem("in_progress"), outputText("")
	ok := rs.send(responsesEvent{Type: "response.output_item.added", OutputIndex: &zero, Item: &item}, event{}) &&
		rs.send(rs.onPart("response.content_part.added", &part), event{})
	if !ok {
		return false
	}
	for piece, n := range rs.pieces() {
		e := rs.onPart("response.output_text.delta", nil)
		e.Delta, e.Logprobs = &piece, []any{}
		if !rs.send(e, event{tokens: n, content: true}) {
			return false
		}
	}
	return true
}

func (rs *responsesStreamer) onPart(kind string, part *outputPart) responsesEvent {
	zero := 0
	return responsesEvent{Type: kind, ItemID: "msg_" + rs.id, OutputIndex: &zero, ContentIndex: &zero, Part: part}
}

// finish ends with response.completed, or response.incomplete; there is no [DONE].
func (rs *responsesStreamer) finish() bool {
	doc, _ := responsesAnswer(rs.call).(response)
	zero, whole := 0, rs.text()
	part := outputText(whole)
	done := rs.onPart("response.output_text.done", nil)
	done.Text, done.Logprobs = &whole, []any{}
	return rs.send(done, event{}) &&
		rs.send(rs.onPart("response.content_part.done", &part), event{}) &&
		rs.send(responsesEvent{Type: "response.output_item.done", OutputIndex: &zero, Item: &doc.Output[0]}, event{}) &&
		rs.send(responsesEvent{Type: "response." + doc.Status, Response: &doc}, event{})
}

// responsesFailure is how a Responses stream says that it failed.
func responsesFailure(c *call) []event {
	doc := c.response("failed")
	doc.Error = map[string]string{"code": "server_error", "message": overloadedText}
	const sequence = 1_000_000 // after all others
	return []event{
		{name: "error", data: map[string]any{
			"type": "error", "code": "server_error", "message": overloadedText, "param": nil,
			"sequence_number": sequence,
		}},
		{name: "response.failed", data: responsesEvent{
			Type: "response.failed", Response: &doc, SequenceNumber: sequence + 1,
		}},
	}
}
