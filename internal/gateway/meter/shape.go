// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// reader reads one event of a stream, or a whole document. name is the event's, where the framing has names.
// It reports whether the event is the usage chunk that no choice belongs to.
type reader func(t *tally, name, data []byte) (usageChunk bool)

// shape is how one format reports.
type shape struct {
	read reader
	// members are what read looks at, for documents and for events too large to be kept whole. Members of one
	// object stand together, and none lies inside another.
	members []string
	// headers reads what the response's headers report; nil is nothing.
	headers func(u *dialect.Usage, h http.Header)
	// unnamed is the framing of a stream whose response states no type.
	unnamed framing
	// values: when an answer of the type application/json is a stream of documents.
	values when
}

type when uint8

const (
	never when = iota
	streams
	always
)

var shapes = map[dialect.Format]*shape{
	dialect.FormatChat: {
		read: chat, unnamed: framedEvents,
		members: []string{"object", "type", "code", "message", "error", "usage", "x_groq.usage", "x_groq.error", "choices.#.finish_reason", "choices.#.error"},
	},
	dialect.FormatResponses: {
		read: responses, unnamed: framedEvents,
		members: []string{"type", "error", "usage", "response.usage", "response.error"},
	},
	dialect.FormatMessages: {
		read: messages, unnamed: framedEvents,
		members: []string{"type", "error", "usage", "message.usage"},
	},
	dialect.FormatGenerate: {
		read: generate, unnamed: framedEvents, values: always,
		members: []string{"error", "usageMetadata", "promptFeedback.blockReason", "candidates.#.finishReason"},
	},
	dialect.FormatConverse: {
		read: converse, unnamed: framedMessages,
		members: []string{"usage", "stopReason"},
	},
	dialect.FormatInvoke: {
		read: invoke, unnamed: framedMessages, headers: invokeHeaders,
		members: []string{
			"usage", "prompt_token_count", "generation_token_count", "inputTextTokenCount", "results.#.tokenCount", "meta",
		},
	},
	dialect.FormatCohere: {
		read: cohere, unnamed: framedEvents,
		members: []string{"type", "event_type", "usage", "meta", "delta.usage", "delta.finish_reason", "delta.error", "response.meta"},
	},
	dialect.FormatOllama: {
		read: ollama, unnamed: framedLines, values: streams,
		members: []string{"done", "prompt_eval_count", "eval_count", "error"},
	},
	dialect.FormatTGI: {
		read: tgi, unnamed: framedEvents, headers: tgiHeaders,
		members: []string{
			"error", "error_type", "details.finish_reason", "details.generated_tokens", "details.input_length", "details.prefill",
			"#.details.finish_reason", "#.details.generated_tokens", "#.details.prefill",
		},
	},
}

// shapeOf is the shape of a format; what is not metered is read as chat, which costs nothing where no name fits.
func shapeOf(f dialect.Format) *shape {
	if s := shapes[f]; s != nil {
		return s
	}
	return shapes[dialect.FormatChat]
}
