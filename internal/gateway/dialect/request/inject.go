// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/jsonscan"
)

const (
	usageMember  = `"include_usage":true`
	usageOptions = `{` + usageMember + `}`
)

// span is a part of the body; without a value it is empty.
type span struct {
	start, end int
	kind       byte
}

// InjectUsage asks a stream to report its usage. ok is false where the body is no stream, asks already, or
// cannot be read; then nothing need be or can be changed.
func InjectUsage(body []byte) (rewrite dialect.Splice, ok bool) {
	s := jsonscan.New(body)
	if !s.Enter('{') {
		return dialect.Splice{}, false
	}
	start := s.Pos()
	streamed := false
	var options, usage span
	for first := true; ; {
		key, more := s.Key(&first)
		if !more {
			break
		}
		switch chatMembers.of(key) {
		case stream:
			streamed, _ = s.Bool()
		case streamOptions:
			options, usage = readOptions(&s)
		default:
			s.Skip()
		}
	}
	if s.Err() || !s.AtEnd() || !streamed {
		return dialect.Splice{}, false
	}
	return inject(body, start, options, usage)
}

// readOptions finds the value of stream_options, and of include_usage in it.
func readOptions(s *jsonscan.Scanner) (options, usage span) {
	options.kind = s.Kind()
	options.start = s.Pos()
	if !s.Enter('{') {
		s.Skip()
		options.end = s.Pos()
		return options, usage
	}
	for first := true; ; {
		key, more := s.Key(&first)
		if !more {
			break
		}
		kind, start := s.Kind(), s.Pos()
		s.Skip()
		if key.Is("include_usage") {
			usage = span{start: start, end: s.Pos(), kind: kind}
		}
	}
	options.end = s.Pos()
	return options, usage
}

// inject splices: into the object there is, in place of a value that asks for nothing, or in front.
func inject(body []byte, start int, options, usage span) (dialect.Splice, bool) {
	switch {
	case options.kind == 0:
		return dialect.Splice{From: start, To: start, Text: `"stream_options":` + usageOptions + ","}, true
	case options.kind == 'n':
		return dialect.Splice{From: options.start, To: options.end, Text: usageOptions}, true
	case options.kind != '{':
		return dialect.Splice{}, false // the provider will say what is wrong with it
	case usage.kind == 'f' || usage.kind == 'n':
		return dialect.Splice{From: usage.start, To: usage.end, Text: "true"}, true
	case usage.kind != 0:
		return dialect.Splice{}, false
	}
	at := options.start + 1
	if emptyObject(body[at:options.end]) {
		return dialect.Splice{From: at, To: at, Text: usageMember}, true
	}
	return dialect.Splice{From: at, To: at, Text: usageMember + ","}, true
}

func emptyObject(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == '}'
		}
	}
	return true
}
