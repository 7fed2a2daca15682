// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"mime"
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// The interfaces guard against a drift from the contract.
var (
	_ dialect.Meter = (*eventMeter)(nil)
	_ dialect.Meter = (*bareMeter)(nil)
	_ dialect.Meter = (*frameMeter)(nil)
	_ dialect.Meter = (*lineMeter)(nil)
	_ dialect.Meter = (*valueMeter)(nil)
	_ dialect.Meter = (*documentMeter)(nil)
	_ dialect.Meter = (*opaqueMeter)(nil)
)

// New returns a meter for a response to op. How the response is framed its own type decides: some providers
// answer a request for a stream with a document. Where the type is none of a stream that was asked for, the first byte does.
func New(op dialect.Operation, h http.Header, opts dialect.MeterOptions, classify Classifier) dialect.Meter {
	t := newTally(classify)
	if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return &opaqueMeter{t}
	}
	s := shapeOf(op.Format)
	t.noOutput = op.Name == "embeddings"
	if s.headers != nil {
		s.headers(&t.usage, h)
	}
	opts.Stream = opts.Stream || op.Stream
	framing := framingOf(h.Get("Content-Type"), s, opts)
	untyped := framing == document && opts.Stream && s.unnamed == framedEvents
	if (framing != document || untyped) && opts.Choices > 1 {
		t.several = &choices{}
	}
	r := reading{tally: t, shape: s}
	if framing == framedEvents || untyped {
		return &bareMeter{Meter: newEventMeter(r, opts), document: newDocumentMeter(r), untyped: untyped}
	}
	switch framing {
	case framedMessages:
		return &frameMeter{reading: r}
	case framedLines:
		return &lineMeter{reading: r}
	case framedValues:
		return &valueMeter{reading: r, whole: op.Format != dialect.FormatOllama}
	default:
		return newDocumentMeter(r)
	}
}

func newEventMeter(r reading, opts dialect.MeterOptions) *eventMeter {
	m := &eventMeter{reading: r}
	if opts.StripUsage {
		m.strip = &stripper{}
	}
	return m
}

// framing is how what passes is divided.
type framing uint8

const (
	document framing = iota
	framedEvents
	framedMessages
	framedLines
	framedValues
)

// framings are the content types of streams.
var framings = map[string]framing{
	"text/event-stream":                  framedEvents,
	"application/vnd.amazon.eventstream": framedMessages,
	"application/x-ndjson":               framedLines,
	"application/ndjson":                 framedLines,
	"application/jsonl":                  framedLines,
	"application/x-jsonl":                framedLines,
	"application/jsonlines":              framedLines,
	"application/x-jsonlines":            framedLines,
	"application/json-seq":               framedLines,
	"application/stream+json":            framedLines,
}

// Framed reports whether a content type is one of a stream, whose pieces matter one by one and which says itself when it
// is over.
func Framed(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	_, ok := framings[strings.ToLower(strings.TrimSpace(kind))]
	return ok
}

func framingOf(contentType string, s *shape, opts dialect.MeterOptions) framing {
	if contentType == "" && opts.Stream {
		return s.unnamed
	}
	if f, ok := framings[mediaType(contentType)]; ok {
		return f
	}
	if s.values == always || s.values == streams && opts.Stream {
		return framedValues
	}
	return document
}

// mediaType is a content type without its parameters.
func mediaType(contentType string) string {
	if contentType == "application/json" { // what most answers state
		return contentType
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	}
	return strings.TrimSpace(kind)
}
