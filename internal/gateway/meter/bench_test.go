// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// BenchmarkDelta is the cost of one delta of each other format; those of chat and messages stand beside their
// tests.
func BenchmarkDelta(b *testing.B) {
	for name, tc := range map[string]struct {
		format      dialect.Format
		contentType string
		text        []byte
	}{
		"responses": {dialect.FormatResponses, typeEvents, []byte("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hello\"}\n\n")},
		"generate":  {dialect.FormatGenerate, typeEvents, []byte(`data: {"candidates": [{"content": {"parts": [{"text": "Hello"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 9,"candidatesTokenCount": 1,"totalTokenCount": 10,"promptTokensDetails": [{"modality": "TEXT","tokenCount": 9}]},"modelVersion": "gemini-2.5-flash"}` + "\r\n\r\n")},
		"converse":  {dialect.FormatConverse, typeMessages, frames(b, []byte(`{"event":"contentBlockDelta","payload":{"contentBlockIndex":0,"delta":{"text":"Hello"},"p":"abcdefghijkl"}}`))},
		"invoke":    {dialect.FormatInvoke, typeMessages, frames(b, []byte(`{"event":"chunk","payload":{"bytes":"eyJ0eXBlIjoiY29udGVudF9ibG9ja19kZWx0YSIsImluZGV4IjowLCJkZWx0YSI6eyJ0eXBlIjoidGV4dF9kZWx0YSIsInRleHQiOiJIZWxsbyJ9fQ==","p":"abc"}}`))},
		"cohere":    {dialect.FormatCohere, typeEvents, []byte("event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\"Hello\"}}}}\n\n")},
		"ollama":    {dialect.FormatOllama, typeLines, []byte(`{"model":"llama3.2","created_at":"2026-06-15T12:00:01.1Z","message":{"role":"assistant","content":"Hello"},"done":false}` + "\n")},
		"tgi":       {dialect.FormatTGI, typeEvents, []byte(`data:{"index":1,"token":{"id":1,"text":"Hello","logprob":-0.5,"special":false},"generated_text":null,"details":null}` + "\n\n")},
	} {
		b.Run(name, func(b *testing.B) {
			m := newMeter(tc.format, tc.contentType)
			b.ReportAllocs()
			for b.Loop() {
				m.Write(tc.text)
			}
			if !m.ContentSeen() || m.OutputSoFar() < 1 {
				b.Fatal("no content")
			}
		})
	}
}
