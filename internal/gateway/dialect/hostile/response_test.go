// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var received = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)

const key = "sk-proj-abcdefghijklmnop1234567890"

func header(fields string) http.Header {
	h := http.Header{}
	for line := range strings.Lines(fields) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

// FuzzResponse: any status, headers and body, with every dialect.
func FuzzResponse(f *testing.F) {
	for _, m := range append(recorded(f, responses), vectors(f)...) {
		status, _ := strconv.Atoi(m.start[1])
		f.Add(m.dialect, uint16(status), m.fields, m.body)
	}
	f.Fuzz(func(t *testing.T, n uint8, status uint16, fields, body string) {
		d := numbered(n)
		h := header(fields)
		r := d.ReadHeaders(int(status), h, received)
		checkReading(t, r)
		failure := d.ReadFailure(int(status), h, []byte(body), &r)
		checkReading(t, r)
		checkFailure(t, failure)
		if wait, source, ok := r.Wait(failure.Class); wait < 0 || !ok && (wait != 0 || source != dialect.SourceNone) {
			t.Errorf("a wait of %v from %q, %v", wait, source, ok)
		}
		if wait, _, ok := r.Wait(dialect.ClassSuccess); ok || wait != 0 {
			t.Error("a success asks for a wait")
		}
	})
}

func checkReading(t *testing.T, r dialect.Reading) {
	t.Helper()
	if r.RetryAfter < 0 || r.Source == dialect.SourceNone && r.RetryAfter != 0 {
		t.Errorf("%v from %q", r.RetryAfter, r.Source)
	}
	if len(r.Budgets) > 64 {
		t.Errorf("%d budgets", len(r.Budgets))
	}
	for _, b := range r.Budgets {
		for _, v := range []float64{b.Limit, b.Remaining} {
			if v != -1 && !(v >= 0 && v <= 1e15) {
				t.Errorf("%+v", b)
			}
		}
		if b.Reset < 0 || b.Window < 0 || !b.HasReset && b.Reset != 0 || b.RoundedTo < 1 {
			t.Errorf("%+v", b)
		}
	}
}

func checkFailure(t *testing.T, f dialect.Failure) {
	t.Helper()
	switch f.Class {
	case dialect.ClassSuccess, dialect.ClassThrottle, dialect.ClassOverload, dialect.ClassQuota, dialect.ClassTransient, dialect.ClassPermanent:
	default:
		t.Errorf("class %q", f.Class)
	}
	if utf8.RuneCountInString(f.Message) > 256 || len(f.Code) > 64 || strings.ContainsAny(f.Message+f.Code, "\r\n\x00") {
		t.Errorf("%+v", f)
	}
}

// FuzzNoKeys: a key in a message or a code never comes out again.
func FuzzNoKeys(f *testing.F) {
	f.Add(uint8(0), uint16(401), "Incorrect API key provided: ", ". Look it up.", "error")
	f.Add(uint8(2), uint16(429), "{'api_key': '", "'}", "message")
	f.Fuzz(func(t *testing.T, n uint8, status uint16, before, after, member string) {
		d := numbered(n)
		if !utf8.ValidString(before+after+member) || strings.ContainsAny(before+after+member, `"\`) {
			return // no JSON
		}
		text := before + " " + key + " " + after
		for _, body := range []string{
			`{"error":{"message":"` + text + `","code":"` + key + `"}}`, `{"message":"` + text + `"}`, `[{"error":{"message":"` + text + `","status":"` + key + `"}}]`,
			`{"` + member + `":{"message":"` + text + `"}}`, text,
		} {
			var r dialect.Reading
			failure := d.ReadFailure(int(status), http.Header{}, []byte(body), &r)
			if strings.Contains(failure.Message+failure.Code, "abcdefgh") {
				t.Errorf("%q gives %+v", body, failure)
			}
		}
	})
}

// FuzzMeter: any body of any operation, cut anywhere, passes unchanged and gives what it gives when whole.
func FuzzMeter(f *testing.F) {
	for _, m := range recorded(f, responses) {
		for _, kind := range []string{"text/event-stream", "application/json", "application/x-ndjson"} {
			f.Add(m.dialect, uint8(len(m.body)), kind, m.body, uint16(len(m.body)/2))
		}
	}
	f.Fuzz(func(t *testing.T, n, which uint8, kind, body string, cut uint16) {
		d := numbered(n)
		op := operation(d, which)
		at := min(int(cut), len(body))
		whole, wholeUsage := metered(d, op, kind, body)
		parts, partsUsage := metered(d, op, kind, body[:at], body[at:])
		if string(whole) != body || string(parts) != body {
			t.Errorf("passed %q, cut %q, of %q", whole, parts, body)
		}
		if wholeUsage != partsUsage {
			t.Errorf("%+v, cut at %d %+v", wholeUsage, at, partsUsage)
		}
		for _, v := range []int64{wholeUsage.Input, wholeUsage.Output, wholeUsage.CachedRead, wholeUsage.CacheWrite, wholeUsage.Reasoning} {
			if v < -1 {
				t.Errorf("%+v", wholeUsage)
			}
		}
	})
}

func metered(d dialect.Dialect, op dialect.Operation, kind string, parts ...string) ([]byte, dialect.Usage) {
	m := d.NewMeter(op, http.Header{"Content-Type": {kind}}, dialect.MeterOptions{Stream: true})
	var out bytes.Buffer
	for _, part := range parts {
		out.Write(m.Write([]byte(part)))
	}
	out.Write(m.Close())
	return out.Bytes(), m.Usage()
}
