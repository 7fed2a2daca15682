// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/eventstream"
)

// TestB12MemoryIsBounded: whatever passes through whichever meter, it keeps less than a megabyte.
func TestB12MemoryIsBounded(t *testing.T) {
	const size = 2 << 20
	huge := eventstream.Append(nil, []eventstream.Header{{Name: ":event-type", Value: "chunk"}}, bytes.Repeat([]byte("x"), size))
	hostile := map[string][]byte{
		"a line":           []byte(strings.Repeat("x", size)),
		"lines":            []byte(strings.Repeat("data: x\n", size/8)),
		"a string":         []byte(`data: {"usage":"` + strings.Repeat("x", size)),
		"a string of JSON": []byte(`[{"usage":"` + strings.Repeat(`\"`, size/2)),
		"nesting":          []byte(strings.Repeat("[", size)),
		"objects":          []byte(`{"usage":` + strings.Repeat(`{"usage":`, size/9)),
		"a frame":          huge[:len(huge)-1],
		"a name":           []byte("event: " + strings.Repeat("e", size)),
	}
	for name, text := range hostile {
		for _, contentType := range contentTypes {
			for _, f := range []dialect.Format{dialect.FormatGenerate, dialect.FormatInvoke} {
				m := newMeter(f, contentType)
				before := heap()
				for rest := text; len(rest) > 0; {
					n := min(len(rest), 32<<10)
					m.Write(rest[:n])
					rest = rest[n:]
				}
				if kept := int64(heap()) - int64(before); kept > 1<<20 {
					t.Errorf("%s, %s, %s: keeps %d bytes", name, contentType, f, kept)
				}
				runtime.KeepAlive(m)
			}
		}
	}
}

// TestNoEventIsHeldBackForEver: what may be the injected chunk is held back no further than that can go on.
func TestNoEventIsHeldBackForEver(t *testing.T) {
	for name, line := range map[string]string{
		"ids": "id: 1\n", "names": "event: message\n", "comments": ": c\n", "data": "data: \n", "an id": "1", "a comment": "c",
	} {
		for _, begin := range []string{"", "data: {\n", "id:", "data: {\n:"} {
			m := streamMeter("chat", true)
			in := []byte(begin)
			out := len(m.Write(in))
			for range 400 {
				p := []byte(strings.Repeat(line, 200))
				in, out = append(in, p...), out+len(m.Write(p))
			}
			if held := len(in) - out; held > 8*maxUsageChunk {
				t.Errorf("%s behind %q: %d of %d bytes are held back", name, begin, held, len(in))
			}
			if out += len(m.Close()); out != len(in) {
				t.Errorf("%s behind %q: %d of %d bytes pass", name, begin, out, len(in))
			}
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// TestDeltasAreNotParsed: in the formats that most calls use a delta costs no allocation.
func TestDeltasAreNotParsed(t *testing.T) {
	for name, tc := range map[string]struct {
		format            dialect.Format
		contentType, text string
	}{
		"chat":      {dialect.FormatChat, typeEvents, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}],\"usage\":null}\n\n"},
		"lines":     {dialect.FormatChat, typeLines, "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":null}],\"usage\":null}\n"},
		"messages":  {dialect.FormatMessages, typeEvents, "event: content_block_delta\ndata: {\"delta\":{\"text\":\"a\"}}\n\n"},
		"responses": {dialect.FormatResponses, typeEvents, "event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\n"},
		"converse":  {dialect.FormatConverse, typeMessages, string(frames(t, []byte(`{"event":"contentBlockDelta","payload":{"delta":{"text":"a"}}}`)))},
		"cohere":    {dialect.FormatCohere, typeEvents, "event: content-delta\ndata: {\"delta\":{\"message\":{\"content\":{\"text\":\"a\"}}}}\n\n"},
		"ollama":    {dialect.FormatOllama, typeLines, "{\"message\":{\"content\":\"a\"},\"done\":false}\n"},
	} {
		m := newMeter(tc.format, tc.contentType)
		p := []byte(tc.text)
		m.Write(p)
		if n := testing.AllocsPerRun(100, func() { m.Write(p) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		if m.OutputSoFar() < 100 {
			t.Errorf("%s: output %d", name, m.OutputSoFar())
		}
	}
}

// TestChatInLines: a server that copies OpenAI and sends lines instead of events.
func TestChatInLines(t *testing.T) {
	text := read(t, "chat.sse")
	var lines []byte
	for line := range bytes.Lines(text) {
		if document, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			lines = append(lines, document...)
		}
	}
	m := newMeter(dialect.FormatChat, typeLines)
	if got := relay(m, singles(lines)...); !bytes.Equal(got, lines) || outcomeOf(m) != recordings["chat.sse"].want {
		t.Errorf("%+v", outcomeOf(m))
	}
}

// TestOllamaInPlainJSON: lines under the type of a document, end at what says so, not at a line's.
func TestOllamaInPlainJSON(t *testing.T) {
	text := read(t, "ollama.ndjson")
	last := bytes.LastIndexByte(bytes.TrimSpace(text), '\n')
	m := newMeter(dialect.FormatOllama, typeJSON)
	m.Write(text[:last])
	if m.Complete() {
		t.Error("complete before its last line")
	}
	if m.Write(text[last:]); outcomeOf(m) != recordings["ollama.ndjson"].want {
		t.Errorf("%+v", outcomeOf(m))
	}
}
