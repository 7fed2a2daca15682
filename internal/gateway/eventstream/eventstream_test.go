// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"bytes"
	"strings"
	"testing"

	aws "github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// seen is what a handler was told.
type seen struct {
	Event, Payload string
	Large          bool
}

type recorder struct{ messages []seen }

func (r *recorder) Message(m Message) {
	r.messages = append(r.messages, seen{string(m.Header(":event-type")), string(m.Payload), m.Large})
}

func decode(pieces ...[]byte) ([]seen, *Decoder) {
	var d Decoder
	var r recorder
	for _, p := range pieces {
		d.Write(p, &r)
	}
	return r.messages, &d
}

func singles(text []byte) (pieces [][]byte) {
	for i := range text {
		pieces = append(pieces, text[i:i+1])
	}
	return pieces
}

func event(name, payload string) []byte {
	return Append(nil, []Header{{":event-type", name}, {":content-type", "application/json"}, {":message-type", "event"}}, []byte(payload))
}

// awsEvent is a message as the provider's own library writes it, with a header of each type before the name.
func awsEvent(t *testing.T, name, payload string) []byte {
	t.Helper()
	m := aws.Message{Payload: []byte(payload)}
	for key, value := range map[string]aws.Value{
		"t": aws.BoolValue(true), "f": aws.BoolValue(false), "b": aws.Int8Value(1), "s": aws.Int16Value(2), "i": aws.Int32Value(3),
		"l": aws.Int64Value(4), "y": aws.BytesValue("bytes"), "u": aws.UUIDValue{1},
	} {
		m.Headers.Set(key, value)
	}
	m.Headers.Set(":event-type", aws.StringValue(name))
	var out bytes.Buffer
	if err := aws.NewEncoder().Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReadsWhatTheProviderWrites, and cuts it at every offset.
func TestReadsWhatTheProviderWrites(t *testing.T) {
	text := slicesOf(awsEvent(t, "contentBlockDelta", `{"delta":{"text":"a"}}`), awsEvent(t, "ping", ""), awsEvent(t, "metadata", "{}"))
	want := []seen{{Event: "contentBlockDelta", Payload: `{"delta":{"text":"a"}}`}, {Event: "ping"}, {Event: "metadata", Payload: "{}"}}
	for cut := range len(text) + 1 {
		if got, _ := decode(text[:cut], text[cut:]); !cmp.Equal(got, want) {
			t.Fatalf("cut at %d: %s", cut, cmp.Diff(want, got))
		}
	}
	if got, d := decode(singles(text)...); !cmp.Equal(got, want) || d.Broken() || d.Unfinished() {
		t.Errorf("in single bytes: %s", cmp.Diff(want, got))
	}
}

func slicesOf(messages ...[]byte) []byte { return bytes.Join(messages, nil) }

// TestTheProviderReadsWhatWeWrite: its own decoder takes our messages.
func TestTheProviderReadsWhatWeWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringN(1, 200, 255).Draw(t, "name")
		value := rapid.StringN(0, 2000, 65535).Draw(t, "value")
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		text := Append([]byte("before"), []Header{{name, value}}, payload)
		m, err := aws.NewDecoder().Decode(bytes.NewReader(text[len("before"):]), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Headers.Get(name); got.String() != value || !bytes.Equal(m.Payload, payload) {
			t.Fatalf("%q: %q, payload %q", name, got, m.Payload)
		}
	})
}

// TestHeadersAreFoundOrNot: what is no string, and what is cut off, is not found, and nothing panics.
func TestHeadersAreFoundOrNot(t *testing.T) {
	whole := Append(nil, []Header{{"a", "1"}, {"b", ""}, {"a", "2"}}, nil)
	headers := whole[prelude : len(whole)-trailer]
	for length := range len(headers) + 1 {
		m := Message{Headers: headers[:length]}
		if a := m.Header("a"); length < 6 && a != nil || length >= 6 && string(a) != "1" {
			t.Errorf("%d bytes: a is %q", length, a)
		}
	}
	m := Message{Headers: headers}
	if b := m.Header("b"); b == nil || len(b) != 0 || m.Header("c") != nil {
		t.Errorf("b is %q, c %q", b, m.Header("c"))
	}
	if got := (Message{Headers: []byte{1, 'a', typeTrue, 1, 'b', 77, 0}}).Header("b"); got != nil {
		t.Errorf("a header of an unknown type is %q", got)
	}
	if got := (Message{Headers: []byte{1, 'a', typeInt, 0, 0, 0, 5}}).Header("a"); got != nil {
		t.Errorf("a number is %q", got)
	}
}

// TestLongHeadersAreCut: the format has one byte for a name's length and two for a value's.
func TestLongHeadersAreCut(t *testing.T) {
	text := Append(nil, []Header{{strings.Repeat("n", 300), strings.Repeat("v", 70_000)}}, []byte("p"))
	m, err := aws.NewDecoder().Decode(bytes.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if value := m.Headers.Get(strings.Repeat("n", 255)); value == nil || len(value.String()) != 65_535 {
		t.Errorf("headers %d", len(m.Headers))
	}
}

// TestLargeMessagesAreNotKept: only their headers are, and what follows is read.
func TestLargeMessagesAreNotKept(t *testing.T) {
	for size, large := range map[int]bool{65_535: false, 65_536: false, 1 << 20: true, 5 << 20: true} {
		payload := strings.Repeat("x", size)
		text := slicesOf(event("big", payload), event("next", "{}"))
		want := []seen{{Event: "big", Payload: payload}, {Event: "next", Payload: "{}"}}
		if large {
			want[0] = seen{Event: "big", Large: true}
		}
		for _, step := range []int{1000, 32 << 10, len(text)} {
			var d Decoder
			var r recorder
			kept := 0
			for rest := text; len(rest) > 0; {
				n := min(step, len(rest))
				d.Write(rest[:n], &r)
				kept, rest = max(kept, cap(d.head)), rest[n:]
			}
			if !cmp.Equal(r.messages, want) {
				t.Errorf("%d bytes in steps of %d: other messages", size, step)
			}
			if kept > 2*MaxMessage {
				t.Errorf("%d bytes in steps of %d: keeps %d", size, step, kept)
			}
		}
	}
}

// TestWhatIsNoMessageEndsTheReading: every flipped bit is noticed, and what was read before stays.
func TestWhatIsNoMessageEndsTheReading(t *testing.T) {
	first, second := event("a", "{}"), event("b", `{"x":1}`)
	for at := range second {
		text := slicesOf(first, second, event("c", "{}"))
		text[len(first)+at] ^= 0x10
		for _, pieces := range [][][]byte{{text}, singles(text)} {
			got, d := decode(pieces...)
			// A length that grew leaves the checksum of the prelude wrong, so all of them are broken at once.
			if !d.Broken() || !cmp.Equal(got, []seen{{Event: "a", Payload: "{}"}}) {
				t.Errorf("byte %d: broken %v, %v", at, d.Broken(), got)
			}
		}
	}
	big := event("big", strings.Repeat("x", 1<<20))
	big[len(big)/2]++
	if got, d := decode(big); len(got) != 0 || !d.Broken() {
		t.Errorf("a large message with a wrong checksum: %v", got)
	}
}

// TestAbsurdLengthsAreRefused: with valid checksums, too.
func TestAbsurdLengthsAreRefused(t *testing.T) {
	for name, lengths := range map[string][2]uint32{
		"shorter than itself": {15, 0}, "headers beyond it": {20, 5}, "huge": {1 << 30, 0}, "headers huge": {1 << 20, 1 << 19},
	} {
		p := preludeOf(lengths[0], lengths[1])
		for _, pieces := range [][][]byte{{p}, singles(p)} {
			if got, d := decode(pieces...); !d.Broken() || len(got) != 0 {
				t.Errorf("%s: broken %v", name, d.Broken())
			}
		}
	}
	if _, d := decode(preludeOf(16, 0)); d.Broken() || !d.Unfinished() {
		t.Error("a message that has begun is not unfinished")
	}
}

// TestRandomCuts: several cuts at random, several messages.
func TestRandomCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		var want []seen
		for range rapid.IntRange(0, 5).Draw(t, "messages") {
			payload := rapid.StringN(0, 50, 400).Draw(t, "payload")
			text = append(text, event("e", payload)...)
			want = append(want, seen{Event: "e", Payload: payload})
		}
		var pieces [][]byte
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, min(len(rest), 100)).Draw(t, "n")
			pieces, rest = append(pieces, bytes.Clone(rest[:n])), rest[n:]
		}
		if got, d := decode(pieces...); !cmp.Equal(got, want) || d.Unfinished() {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}

// FuzzEventStream: nothing panics, and the messages do not depend on the cut.
func FuzzEventStream(f *testing.F) {
	f.Add(event("metadata", `{"usage":{"inputTokens":1}}`), uint16(20))
	f.Add(slicesOf(event("a", ""), event("b", "{}")), uint16(70))
	f.Add(preludeOf(1<<20, 4), uint16(3))
	f.Add([]byte("event: no frame\n\n"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		i := int(cut) % (len(text) + 1)
		one, a := decode(text)
		two, b := decode(text[:i], text[i:])
		if diff := cmp.Diff(one, two); diff != "" || a.Broken() != b.Broken() || !a.Broken() && a.Unfinished() != b.Unfinished() {
			t.Errorf("cut at %d: %s", i, diff)
		}
		// Each name is looked for in all of the headers: a few names, or long inputs of zeros take seconds.
		for _, name := range bytes.SplitN(text, []byte{0}, 100) {
			_ = Message{Headers: text}.Header(string(name))
		}
	})
}

// BenchmarkDecode is the cost of finding a delta.
func BenchmarkDecode(b *testing.B) {
	text := event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Hello"},"p":"abcdefghijkl"}`)
	var d Decoder
	h := &counter{}
	b.ReportAllocs()
	for b.Loop() {
		d.Write(text, h)
	}
	if h.n == 0 {
		b.Fatal("no messages")
	}
}

type counter struct{ n int }

func (c *counter) Message(Message) { c.n++ }
