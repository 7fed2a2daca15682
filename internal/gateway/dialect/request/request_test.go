// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var costs = Costs{Image: 1500, Audio: 1400, Document: 3000}

// TestRead: what is metered, and what is not.
func TestRead(t *testing.T) {
	cases := map[string]struct {
		body string
		want dialect.Request
	}{
		"chat": {
			`{"model":"gpt-5","messages":[{"role":"user","content":"hello"}],"stream":true,"max_tokens":10,"max_completion_tokens":99,"n":2}`,
			dialect.Request{Model: "gpt-5", Stream: true, TextBytes: 9, MaxOutputTokens: 99, Choices: 2},
		},
		"responses": {
			`{"input":"hello","instructions":"be brief","max_output_tokens":7,"model":"o5"}`,
			dialect.Request{Model: "o5", TextBytes: 13, MaxOutputTokens: 7},
		},
		"messages": {
			`{"model":"claude","system":[{"type":"text","text":"abc","cache_control":{"type":"x"}}],"messages":[{"role":"u","content":"de"}],"max_tokens":5}`,
			dialect.Request{Model: "claude", TextBytes: 4 + 3 + 1 + 2, MaxOutputTokens: 5},
		},
		"embeddings": {`{"model":"e","input":["ab","cde"]}`, dialect.Request{Model: "e", TextBytes: 5}},
		"tokens":     {`{"input":[[1024,20],[30000]]}`, dialect.Request{TextBytes: 9}},
		"completions": {
			`{"prompt":"abc","suffix":"d","best_of":3,"n":2}`,
			dialect.Request{TextBytes: 4, Choices: 3},
		},
		"usage asked":      {`{"stream":true,"stream_options":{"x":1,"include_usage":true}}`, dialect.Request{Stream: true, WantsUsage: true}},
		"usage not asked":  {`{"stream":true,"stream_options":{"include_usage":false}}`, dialect.Request{Stream: true}},
		"options are null": {`{"stream":true,"stream_options":null}`, dialect.Request{Stream: true}},
		"tools whole":      {`{"tools":[{"a":"b"}]}`, dialect.Request{TextBytes: 11}},
		"tool call":        {`{"messages":[{"content":[{"type":"tool_use","input":{"a":[1]}}]}]}`, dialect.Request{TextBytes: 8 + 9}},
		"escapes":          {`{"messages":"\u4f60\u597d\n"}`, dialect.Request{TextBytes: 7}},
		"escaped name":     {`{"mod\u0065l":"m","str\u0065am":true}`, dialect.Request{Model: "m", Stream: true}},
		"last one counts":  {`{"model":"a","model":"b","stream":true,"stream":false}`, dialect.Request{Model: "b"}},
		"wrong types":      {`{"model":5,"stream":"true","max_tokens":"9","n":1.5,"stream_options":[],"messages":null}`, dialect.Request{}},
		"negative":         {`{"max_tokens":-5,"n":-1}`, dialect.Request{}},
		"huge":             {`{"max_tokens":99999999999999999999}`, dialect.Request{MaxOutputTokens: 1 << 53}},
		"nested names":     {`{"metadata":{"model":"x","stream":true,"max_tokens":9}}`, dialect.Request{}},
		"signature":        {`{"messages":[{"content":[{"thinking":"ab","signature":"AAAAAAAA"}]}]}`, dialect.Request{TextBytes: 2}},
		"pretty":           {"{\n  \"model\" : \"m\" ,\n  \"max_tokens\" : 4\n}\n", dialect.Request{Model: "m", MaxOutputTokens: 4}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Read([]byte(tc.body), costs)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestUnreadableBodiesCostTheirLength.
func TestUnreadableBodiesCostTheirLength(t *testing.T) {
	for _, body := range []string{
		"", "null", "[]", "{", `{"model":"m"`, `{"model":"m"} x`, `{"model" "m"}`, `{"a":1,}`, `{a:1}`, "--boundary\r\n", `{"messages":[}`,
		strings.Repeat(`{"messages":[`, 1000),
	} {
		want := dialect.Request{TextBytes: int64(len(body))}
		if got := Read([]byte(body), costs); got != want {
			t.Errorf("%.30q: %+v", body, got)
		}
	}
}

// TestC9Base64IsNotText: a picture of 1.9 MB costs a picture, in every place the APIs let it stand.
func TestC9Base64IsNotText(t *testing.T) {
	blob := strings.Repeat("iVBORw0KGgo", 1_900_000*4/3/11)
	const part = `{"messages":[{"role":"user","content":[%s]}]}`
	cases := map[string]struct {
		part string
		want int64
	}{
		"chat image_url":        {`{"type":"image_url","image_url":{"url":"data:image/png;base64,%s","detail":"high"}}`, costs.Image},
		"responses input_image": {`{"type":"input_image","image_url":"data:image/png;base64,%s"}`, costs.Image},
		"responses input_file":  {`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,%s"}`, costs.Document},
		"chat file":             {`{"type":"file","file":{"file_data":"%s","filename":"a.pdf"}}`, costs.Document},
		"chat audio":            {`{"type":"input_audio","input_audio":{"data":"%s","format":"wav"}}`, costs.Audio},
		"anthropic image":       {`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}`, costs.Image},
		"members turned round":  {`{"source":{"data":"%s","media_type":"image/png","type":"base64"},"type":"image"}`, costs.Image},
		"anthropic document":    {`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"%s"}}`, costs.Document},
		"inside a tool result":  {`{"type":"tool_result","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}`, costs.Image},
		"inlineData":            {`{"inlineData":{"mimeType":"audio/wav","data":"%s"}}`, costs.Audio},
		"any data URL":          {`{"type":"text","text":"data:image/webp;base64,%s"}`, costs.Image},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Read([]byte(fmt.Sprintf(part, fmt.Sprintf(tc.part, blob))), costs)
			if got.MediaTokens != tc.want || got.MediaTokens > 3000 || got.TextBytes > 100 {
				t.Errorf("%+v, want %d media tokens and hardly any text", got, tc.want)
			}
		})
	}
	for name, tc := range map[string]struct {
		part  string
		media int64
		text  int64
	}{
		"image by URL":      {`{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}}`, costs.Image, 5 + 4},
		"document by file":  {`{"type":"document","source":{"type":"file","file_id":"f"}}`, costs.Document, 8 + 4},
		"document of text":  {`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"abcdef"}}`, 0, 8 + 4 + 6},
		"document of parts": {`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"abc"}]}}`, 0, 8 + 4 + 4 + 3},
		"a search result":   {`{"type":"search_result","source":"https://x"}`, 0, 13 + 4 + 9},
	} {
		if got := Read([]byte(fmt.Sprintf(part, tc.part)), costs); got.MediaTokens != tc.media || got.TextBytes != tc.text {
			t.Errorf("%s: %+v, want %d media tokens and %d bytes", name, got, tc.media, tc.text)
		}
	}
}

func largeBody() []byte {
	return []byte(`{"model":"claude","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` +
		strings.Repeat("iVBORw0KGgoAAAA/", 10<<20/16) + `"}},{"type":"text","text":"What is this?"}]}],"stream":true}`)
}

// TestC9LargeBodiesAreQuick: 10 MiB in at most 5 ms, tenfold slack. The best of a few runs counts, for the
// machine may be busy.
func TestC9LargeBodiesAreQuick(t *testing.T) {
	body := largeBody()
	best := time.Hour
	for range 10 {
		began := time.Now()
		r := Read(body, costs)
		best = min(best, time.Since(began))
		if r.MediaTokens != costs.Image || !r.Stream {
			t.Fatalf("%+v", r)
		}
	}
	if best > 50*time.Millisecond {
		t.Errorf("took %v", best)
	}
}

// TestB5InjectUsage: the splice, and where there is none.
func TestB5InjectUsage(t *testing.T) {
	cases := map[string]struct{ body, want string }{
		"no options":     {`{"model":"m","stream":true}`, `{"stream_options":{"include_usage":true},"model":"m","stream":true}`},
		"space":          {"\n{ \"stream\": true }", "\n{\"stream_options\":{\"include_usage\":true}, \"stream\": true }"},
		"empty options":  {`{"stream_options":{ },"stream":true}`, `{"stream_options":{"include_usage":true },"stream":true}`},
		"other options":  {`{"stream":true,"stream_options":{"include_obfuscation":false}}`, `{"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}}`},
		"null":           {`{"stream":true,"stream_options":null}`, `{"stream":true,"stream_options":{"include_usage":true}}`},
		"false":          {`{"stream":true,"stream_options":{"include_usage":false}}`, `{"stream":true,"stream_options":{"include_usage":true}}`},
		"asked":          {`{"stream":true,"stream_options":{"include_usage":true}}`, ""},
		"no stream":      {`{"model":"m"}`, ""},
		"stream false":   {`{"stream":false}`, ""},
		"last one false": {`{"stream":true,"stream":false}`, ""},
		"nested":         {`{"metadata":{"stream":true}}`, ""},
		"wrong options":  {`{"stream":true,"stream_options":"x"}`, ""},
		"wrong usage":    {`{"stream":true,"stream_options":{"include_usage":1}}`, ""},
		"broken":         {`{"stream":true,"x":`, ""},
		"trailing":       {`{"stream":true} {}`, ""},
		"no object":      {`[true]`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := injected([]byte(tc.body))
			if string(got) != tc.want || ok != (tc.want != "") {
				t.Errorf("%s, %v\nwant %s", got, ok, tc.want)
			}
			if ok && !Read(got, costs).WantsUsage {
				t.Error("does not ask for usage")
			}
		})
	}
}

// injected is the body with what is injected, nil if nothing is.
func injected(body []byte) ([]byte, bool) {
	s, ok := InjectUsage(body)
	if !ok {
		return nil, false
	}
	return s.Apply(body), true
}

// TestInjectUsageProperties: on any object the splice asks for usage and changes nothing else.
func TestInjectUsageProperties(t *testing.T) {
	value := rapid.SampledFrom([]any{nil, true, "a,\"stream\":false}", 1.5, []any{1, "x"}, map[string]any{"include_usage": false, "a": "}"}})
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOf(rapid.SampledFrom([]string{"model", "messages", "é", "stream_options", "n", "x\\"}), value).Draw(t, "members")
		members["stream"] = true
		body, _ := json.Marshal(members)
		got, ok := injected(body)
		options, isObject := members["stream_options"].(map[string]any)
		if !isObject && members["stream_options"] != nil {
			if ok {
				t.Fatal("rewrote what is wrong")
			}
			return
		}
		want := map[string]any{"include_usage": true}
		for k, v := range options {
			if k != "include_usage" {
				want[k] = v
			}
		}
		members["stream_options"] = want
		wantBody, _ := json.Marshal(members)
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil || !ok {
			t.Fatalf("%s: %v %v", got, ok, err)
		}
		_ = json.Unmarshal(wantBody, &b)
		if diff := cmp.Diff(b, a); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzRead: no body is too strange, and none costs more text than it has bytes.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"messages":[{"content":[{"type":"image","source":{"data":"x"}}]}],"stream":true}`))
	f.Add([]byte(`{"stream":true,"stream_options":{}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := Read(body, costs)
		if r.TextBytes < 0 || r.TextBytes > int64(len(body)) || r.MaxOutputTokens < 0 || r.Choices < 0 {
			t.Errorf("%+v", r)
		}
		got, ok := injected(body)
		if ok && json.Valid(body) && (!Read(got, costs).WantsUsage || !json.Valid(got)) {
			t.Errorf("%q became %q", body, got)
		}
		if !ok && got != nil || ok && bytes.Equal(got, body) {
			t.Error("ok does not say whether it changed")
		}
	})
}

// BenchmarkRead1KB, BenchmarkRead10MiB: see the bars of the performance tests.
func BenchmarkRead1KB(b *testing.B) {
	body := []byte(`{"model":"gpt-5-mini","messages":[{"role":"system","content":"You are terse."},{"role":"user","content":"` +
		strings.Repeat("All work and no play. ", 40) + `"}],"max_tokens":256,"temperature":0.2,"stream":true}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if Read(body, costs).Model == "" {
			b.Fatal("no model")
		}
	}
}

func BenchmarkRead10MiB(b *testing.B) {
	body := largeBody()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if Read(body, costs).MediaTokens == 0 {
			b.Fatal("no picture")
		}
	}
}
