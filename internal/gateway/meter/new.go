// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

// The interfaces guard against a drift from the contract.
var (
	_ dialect.Meter = (*eventMeter)(nil)
	_ dialect.Meter = (*documentMeter)(nil)
	_ dialect.Meter = (*opaqueMeter)(nil)
)

// New returns a meter for a response to op. What it is decides the response's own type: some providers
// answer a request for a stream with a document.
func New(op dialect.Operation, h http.Header, opts dialect.MeterOptions, classify Classifier) dialect.Meter {
	t := newTally(classify)
	if encoding := h.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return &opaqueMeter{t}
	}
	if isStream(h.Get("Content-Type"), opts) {
		m := &eventMeter{tally: t, read: readerOf(op)}
		if opts.StripUsage {
			m.strip = &stripper{}
		}
		return m
	}
	return &documentMeter{
		tally: t, watch: jsonscan.NewStream(documentPaths...), add: adderOf(op), noOutput: op.Name == "embeddings",
	}
}

func isStream(contentType string, opts dialect.MeterOptions) bool {
	if contentType == "" {
		return opts.Stream
	}
	return strings.HasPrefix(strings.ToLower(contentType), "text/event-stream")
}

func readerOf(op dialect.Operation) reader {
	switch op.Format {
	case dialect.FormatMessages:
		return messages
	case dialect.FormatResponses:
		return responses
	default:
		return chat
	}
}

func adderOf(op dialect.Operation) func(*dialect.Usage, gjson.Result) {
	if op.Format == dialect.FormatMessages {
		return addAnthropic
	}
	return addOpenAI
}
