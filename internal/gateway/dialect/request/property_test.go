// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// check holds what no body may break.
func check(t interface {
	Helper()
	Errorf(format string, args ...any)
}, r dialect.Request, body []byte,
) {
	t.Helper()
	most := (costs.Video + costs.Document) * int64(len(body))
	if r.TextBytes < 0 || r.TextBytes > int64(len(body)) || r.MediaTokens < 0 || r.MediaTokens > most {
		t.Errorf("%q: %+v", body, r)
	}
	if r.MaxOutputTokens < 0 || r.MaxOutputTokens > 1<<53 || r.Choices < 0 || r.Choices > 1<<53 || len(r.Model) > 3*maxModel ||
		r.TokensPerByte < 0 || r.TokensPerByte > 1 {
		t.Errorf("%q: %+v", body, r)
	}
}

// FuzzRead: no body is too strange for any format, and none costs more text than it has bytes.
func FuzzRead(f *testing.F) {
	names := []dialect.Format{""}
	for name := range formats {
		names = append(names, name)
	}
	slices.Sort(names)
	index := func(format dialect.Format) uint8 { return uint8(slices.Index(names, format)) }
	for _, tc := range formatCases {
		f.Add(index(tc.format), []byte(tc.body))
	}
	for _, tc := range mediaCases {
		f.Add(index(tc.format), fmt.Appendf(nil, tc.body, "AAAA"))
	}
	f.Add(uint8(0), []byte(`{"stream":true,"stream_options":{}}`))
	f.Fuzz(func(t *testing.T, format uint8, body []byte) {
		check(t, ReadAs(dialect.Operation{Format: names[int(format)%len(names)]}, "", body, costs), body)
		got, ok := injected(body)
		if ok && json.Valid(body) && (!Read(got, costs).WantsUsage || !json.Valid(got)) {
			t.Errorf("%q became %q", body, got)
		}
		if !ok && got != nil || ok && bytes.Equal(got, body) {
			t.Error("ok does not say whether it changed")
		}
	})
}

// member is a name with a value, of bodies whose members keep their order.
type member struct {
	name  string
	value any
}

// writer writes JSON as clients may: with space anywhere, and names and texts escaped anyhow.
type writer struct {
	bytes.Buffer
	space, escape func() bool
}

func (w *writer) gap() {
	for w.space() {
		w.WriteString(" \n")
	}
}

func (w *writer) text(text string) {
	w.WriteByte('"')
	for _, c := range text {
		switch {
		case w.escape() && c < 0x10000:
			fmt.Fprintf(w, "\\u%04x", c)
		case c == '"' || c == '\\':
			w.WriteByte('\\')
			w.WriteRune(c)
		default:
			w.WriteRune(c)
		}
	}
	w.WriteByte('"')
}

func (w *writer) value(v any) {
	w.gap()
	switch v := v.(type) {
	case string:
		w.text(v)
	case []any:
		w.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				w.WriteByte(',')
			}
			w.value(e)
		}
		w.gap()
		w.WriteByte(']')
	case []member:
		w.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				w.WriteByte(',')
			}
			w.gap()
			w.text(m.name)
			w.gap()
			w.WriteByte(':')
			w.value(m.value)
		}
		w.gap()
		w.WriteByte('}')
	default:
		fmt.Fprint(w, v)
	}
	w.gap()
}

func never() bool { return false }

// anyName draws from all names that mean something, and some that do not.
func anyName() *rapid.Generator[string] {
	names := []string{"role", "content", "text", "parts", "data", "media_type", "mimeType", "bytes", "s3Location", "é", "x\"y", "include_usage"}
	for _, f := range formats {
		for _, t := range []table{f.top, f.set, parts} {
			for name := range t {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return rapid.SampledFrom(slices.Compact(names))
}

// drawValue draws a value of at most that depth.
func drawValue(t *rapid.T, name *rapid.Generator[string], depth int) any {
	leaf := rapid.SampledFrom([]any{
		"abc", "image", "document", "text/plain", "image/png", "base64", "data:audio/wav;base64,AAAA", "你好\"", "![](data:image/png;base64,AA)",
		"", 0, -3, 1024, "77", 1.5, "1e3", true, false, "image_generation_call",
	})
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	switch {
	case depth == 0 || kind == 0:
		return leaf.Draw(t, "leaf")
	case kind == 1:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "elements"))
		for i := range list {
			list[i] = drawValue(t, name, depth-1)
		}
		return list
	}
	object := make([]member, rapid.IntRange(0, 4).Draw(t, "members"))
	for i := range object {
		object[i] = member{name.Draw(t, "name"), drawValue(t, name, depth-1)}
	}
	return object
}

// TestReadingProperties: for each format, whatever stands in a body, space and escapes change nothing, and the
// reading keeps its bounds.
func TestReadingProperties(t *testing.T) {
	name := anyName()
	for format := range formats {
		t.Run(string(format), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				body := make([]member, rapid.IntRange(0, 6).Draw(t, "members"))
				for i := range body {
					body[i] = member{name.Draw(t, "name"), drawValue(t, name, 4)}
				}
				coin := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
				plain := writer{space: never, escape: never}
				loose := writer{
					space:  func() bool { return coin.IntN(4) == 0 },
					escape: func() bool { return coin.IntN(3) == 0 },
				}
				plain.value(body)
				loose.value(body)
				if !json.Valid(plain.Bytes()) || !json.Valid(loose.Bytes()) {
					t.Fatalf("%s\n%s", plain.Bytes(), loose.Bytes())
				}
				op := dialect.Operation{Format: format}
				want, got := ReadAs(op, "", plain.Bytes(), costs), ReadAs(op, "", loose.Bytes(), costs)
				check(t, want, plain.Bytes())
				check(t, got, loose.Bytes())
				if want != got {
					t.Fatalf("%+v of %s\n%+v of %s", want, plain.Bytes(), got, loose.Bytes())
				}
			})
		})
	}
}
