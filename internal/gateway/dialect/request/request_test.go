// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

var costs = Costs{Image: 1500, Audio: 1400, Document: 3000, Video: 2900}

// stated is what a request states, without what is expected of its text: that has tests of its own, and must only be
// possible here.
func stated(t *testing.T, r dialect.Request) dialect.Request {
	t.Helper()
	if r.TokensPerByte < 0 || r.TokensPerByte > 1 || r.TokensPerByte == 0 && r.TextBytes > 0 {
		t.Errorf("%v tokens for each of %d bytes", r.TokensPerByte, r.TextBytes)
	}
	r.TokensPerByte = 0
	return r
}

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
			dialect.Request{Model: "claude", TextBytes: 4 + 3 + 1 + 2, MaxOutputTokens: 5, MarksCache: true},
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
		"last one counts":  {`{"model":"a","model":"b","stream":true,"stream":false}`, dialect.Request{Model: "b", Others: [dialect.MaxOthers]string{"a"}}},
		"wrong types":      {`{"model":5,"stream":"true","max_tokens":"9","n":1.5,"stream_options":[],"messages":null}`, dialect.Request{}},
		"negative":         {`{"max_tokens":-5,"n":-1}`, dialect.Request{}},
		"huge":             {`{"max_tokens":99999999999999999999}`, dialect.Request{MaxOutputTokens: 1 << 53}},
		"nested names":     {`{"metadata":{"model":"x","stream":true,"max_tokens":9}}`, dialect.Request{}},
		"signature":        {`{"messages":[{"content":[{"thinking":"ab","signature":"AAAAAAAA"}]}]}`, dialect.Request{TextBytes: 2}},
		"pretty":           {"{\n  \"model\" : \"m\" ,\n  \"max_tokens\" : 4\n}\n", dialect.Request{Model: "m", MaxOutputTokens: 4}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, stated(t, Read([]byte(tc.body), costs))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestUnreadableBodiesCostTheirLength, by the limits of the model that they named.
func TestUnreadableBodiesCostTheirLength(t *testing.T) {
	for _, body := range []string{
		"", "null", "[]", "{", `{"model":"m"`, `{"model":"m"} x`, `{"model" "m"}`, `{"a":1,}`, `{a:1}`, "--boundary\r\n", `{"messages":[}`,
		strings.Repeat(`{"messages":[`, 1000),
	} {
		want := dialect.Request{TextBytes: int64(len(body))}
		if strings.HasPrefix(body, `{"model":`) {
			want.Model = "m"
		} else {
			want.Many = body != "" // of no model that is known, so of any
		}
		if got := Read([]byte(body), costs); got != want {
			t.Errorf("%.30q: %+v", body, got)
		}
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
