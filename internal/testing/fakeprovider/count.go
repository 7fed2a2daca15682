// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// How many tokens a call has is counted from its text, a token for every four bytes; images, audio and
// documents cost mediaTokens each, whatever their size. A call may say it itself instead, so that a test
// of a 60,000-token call need not carry 240 KB, by a header or by a marker anywhere in its text:
//
//	X-Fake-Input-Tokens: 60000        [[input=60000]]
//	X-Fake-Output-Tokens: 200         [[output=200]]
//	X-Fake-Reasoning-Tokens: 50       [[reasoning=50]]      how much of the output is reasoning
//	X-Fake-Cached-Tokens: 8000        [[cached=8000]]       read from the cache
//	X-Fake-Cache-Write-Tokens: 500    [[cache_write=500]]   written to the cache
//
// For Anthropic and Bedrock input leaves cached tokens out, for all others it includes those read, as those APIs
// report it.
const (
	bytesPerToken = 4
	mediaTokens   = 1_000
	// maxTokensPerCall bounds what a call may ask for, and so the size of an answer.
	maxTokensPerCall = 10_000_000
	maxOutputTokens  = 200_000
)

// size is what a call costs.
type size struct {
	input      int64
	output     int64 // what it will produce
	allowed    int64 // the most it allows, for charging at admission
	reasoning  int64 // of the output
	cached     int64
	cacheWrite int64
}

var marker = regexp.MustCompile(`\[\[(input|output|reasoning|cached|cache_write)=(\d{1,9})\]\]`)

// measure counts a call.
func measure(r *request, h http.Header, defaultOutput int64) size {
	t := tally{}
	for _, raw := range r.texts() {
		t.add(raw)
	}
	s := size{
		input:  max(1, (t.bytes+int64(len(r.Tools))+bytesPerToken-1)/bytesPerToken+t.media*mediaTokens),
		output: -1,
	}
	s.override(t.said)
	s.override(map[string]int64{
		"input": headerTokens(h, "X-Fake-Input-Tokens"), "output": headerTokens(h, "X-Fake-Output-Tokens"),
		"reasoning":   headerTokens(h, "X-Fake-Reasoning-Tokens"),
		"cached":      headerTokens(h, "X-Fake-Cached-Tokens"),
		"cache_write": headerTokens(h, "X-Fake-Cache-Write-Tokens"),
	})
	most := r.maxOutput()
	if s.output < 0 {
		s.output = defaultOutput
	}
	if most >= 0 {
		s.output = min(s.output, most)
	} else {
		most = s.output
	}
	s.output = min(s.output, maxOutputTokens)
	s.reasoning = min(s.reasoning, s.output)
	s.allowed = min(most*r.choices(), maxTokensPerCall)
	return s
}

func (s *size) override(said map[string]int64) {
	for name, to := range map[string]*int64{
		"input": &s.input, "output": &s.output, "reasoning": &s.reasoning,
		"cached": &s.cached, "cache_write": &s.cacheWrite,
	} {
		if v, ok := said[name]; ok && v >= 0 {
			*to = min(v, maxTokensPerCall)
		}
	}
}

// headerTokens reads a header; -1 if it is absent or not a number.
func headerTokens(h http.Header, name string) int64 {
	v, err := strconv.ParseInt(h.Get(name), 10, 64)
	if err != nil || v < 0 {
		return -1
	}
	return v
}

// tally adds up the text of a JSON value.
type tally struct {
	bytes int64
	media int64
	said  map[string]int64
}

func (t *tally) add(raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		t.value("", v)
	}
}

// value walks v, which stands under key. Depth is bounded by encoding/json.
func (t *tally) value(key string, v any) {
	switch v := v.(type) {
	case string:
		t.text(key, v)
	case float64:
		// A prompt may be a list of token numbers.
		if key == "" {
			t.bytes += bytesPerToken
		}
	case []any:
		for _, e := range v {
			t.value(key, e)
		}
	case map[string]any:
		if isMedia(v) {
			t.media++
			return
		}
		if images, ok := v["images"].([]any); ok { // Ollama's
			t.media += int64(len(images))
		}
		for k, e := range v {
			t.value(k, e)
		}
	}
}

func (t *tally) text(key, s string) {
	switch key {
	case "", "text", "content", "input", "prompt", "instructions", "system", "arguments", "output",
		"description", "thinking", "data":
	default:
		return
	}
	t.bytes += int64(len(s))
	if !strings.Contains(s, "[[") {
		return
	}
	for _, m := range marker.FindAllStringSubmatch(s, 16) {
		if t.said == nil {
			t.said = map[string]int64{}
		}
		t.said[m[1]], _ = strconv.ParseInt(m[2], 10, 64)
	}
}

// mediaKeys hold a part that is not text, in Google's and in Bedrock's messages.
var mediaKeys = [...]string{"inlineData", "fileData", "image", "video", "document"}

// isMedia says whether a content part is an image, audio or a document that is not plain text.
func isMedia(part map[string]any) bool {
	for _, key := range mediaKeys {
		if _, ok := part[key].(map[string]any); ok {
			return true
		}
	}
	switch part["type"] {
	case "image", "image_url", "input_image", "input_audio", "input_file", "file":
		return true
	case "document":
		source, _ := part["source"].(map[string]any)
		return source["type"] != "text"
	}
	return false
}
