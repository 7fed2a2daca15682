// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/eventstream"
)

// formats are those of the table, in order.
func formats() (all []dialect.Format) {
	for f := range shapes {
		all = append(all, f)
	}
	slices.Sort(all)
	return all
}

var contentTypes = []string{typeEvents, typeMessages, typeLines, typeJSON, typeText}

// FuzzMeter: for each format in each framing, nothing panics, every byte passes at once, no value is negative
// but "unknown", and nothing depends on the cuts.
func FuzzMeter(f *testing.F) {
	all := formats()
	for file, tc := range recordings {
		kind := slices.Index(contentTypes, typeOfFile[path.Ext(file)])
		if kind < 0 {
			kind = slices.Index(contentTypes, typeJSON)
		}
		f.Add(uint8(slices.Index(all, tc.format)), uint8(kind), framed(f, file), uint16(200), uint16(30))
		f.Add(uint8(slices.Index(all, tc.format)), uint8(slices.Index(contentTypes, typeText)), framed(f, file), uint16(200), uint16(30))
	}
	for i := range all {
		for kind := range contentTypes {
			f.Add(uint8(i), uint8(kind), []byte(`data: {"usage":{"input_tokens":-1,"total_tokens":1e400,"prompt_tokens":nan},"error":[]}`), uint16(3), uint16(1))
		}
	}
	f.Fuzz(func(t *testing.T, format, kind uint8, text []byte, first, second uint16) {
		op := dialect.Operation{Format: all[int(format)%len(all)], Stream: second%2 == 0}
		contentType := contentTypes[int(kind)%len(contentTypes)]
		run := func(pieces ...[]byte) outcome {
			m := New(op, http.Header{"Content-Type": {contentType}}, dialect.MeterOptions{}, testClass)
			for _, p := range pieces {
				if got := m.Write(p); !bytes.Equal(got, p) {
					t.Fatalf("%q passed as %q", p, got)
				}
			}
			if rest := m.Close(); len(rest) > 0 {
				t.Fatalf("held back %q", rest)
			}
			return outcomeOf(m)
		}
		one := run(text)
		for _, v := range []int64{one.Usage.Input, one.Usage.Output, one.Usage.CachedRead, one.Usage.CacheWrite, one.Usage.Reasoning} {
			if v < -1 {
				t.Errorf("%+v", one.Usage)
			}
		}
		if one.Output < 0 || one.Usage.ChargedInput(true) < -1 {
			t.Errorf("output %d of %+v", one.Output, one.Usage)
		}
		i := int(first) % (len(text) + 1)
		j := i + int(second)%(len(text)-i+1)
		if three := run(text[:i], text[i:j], text[j:]); three != one {
			t.Errorf("cut at %d and %d: (-one +three)\n%s", i, j, cmp.Diff(one, three))
		}
		if len(text) > 2000 {
			return
		}
		if all := run(singles(text)...); all != one {
			t.Errorf("in single bytes: (-one +all)\n%s", cmp.Diff(one, all))
		}
	})
}

// FuzzChunk: whatever a model puts into Bedrock's chunks and events nothing panics, and no value is negative.
func FuzzChunk(f *testing.F) {
	f.Add("chunk", []byte(`{"type":"message_delta","usage":{"output_tokens":5},"amazon-bedrock-invocationMetrics":{"inputTokenCount":1}}`))
	f.Add("chunk", []byte(`{"metadata":{"usage":{"inputTokens":9}},"messageStop":{}}`))
	f.Add("chunk", []byte(`{"outputs":[{"text":"a"}],"generation":null,"choices":[]}`))
	f.Add("metadata", []byte(`{"usage":{"inputTokens":-9,"outputTokens":1e99}}`))
	f.Fuzz(func(t *testing.T, name string, chunk []byte) {
		wrapped := `{"bytes":"` + base64.StdEncoding.EncodeToString(chunk) + `"}`
		for _, payload := range [][]byte{chunk, []byte(wrapped)} {
			for _, format := range []dialect.Format{dialect.FormatInvoke, dialect.FormatConverse} {
				m := newMeter(format, typeMessages)
				text := eventstream.Append(nil, []eventstream.Header{{Name: ":event-type", Value: name}}, payload)
				relay(m, text)
				if u := m.Usage(); min(u.Input, u.Output, u.CachedRead, u.CacheWrite, u.Reasoning) < -1 || m.OutputSoFar() < 0 {
					t.Errorf("%+v", u)
				}
			}
		}
	})
}
