// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build tokenizer

package tokens

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestExactCounts: the texts of OpenAI's models are counted, others' are not.
func TestExactCounts(t *testing.T) {
	text := []byte("Hello world, this is a test of 12345 tokens. 你好")
	s, ok := Exactly("gpt-5-mini")
	if !ok {
		t.Fatal("gpt-5-mini is not counted")
	}
	s.AddPlain(text)
	want := count(text)
	if got := s.PerByte() * float64(len(text)); got < want-0.01 || got > want+0.01 {
		t.Errorf("%v tokens, want %v", got, want)
	}
	for _, model := range []string{"", "claude-sonnet-4-5", "gpt-3.5-turbo", "text-embedding-3-small", "o"} {
		if _, ok := Exactly(model); ok {
			t.Errorf("%q is counted", model)
		}
	}
}

// TestExactCountsAreBounded: neither long texts nor such as make a tokenizer slow take long. The time is one to
// three tenths of a second on a quiet machine without the race detector.
func TestExactCountsAreBounded(t *testing.T) {
	for name, text := range map[string][]byte{
		"prose": bytes.Repeat([]byte("All work and no play. "), 1<<20), "one letter": bytes.Repeat([]byte("a"), 10<<20),
		"space": bytes.Repeat([]byte(" "), 10<<20), "marks": bytes.Repeat([]byte("!"), 10<<20), "invalid": bytes.Repeat([]byte("\xff"), 10<<20),
		"newlines": []byte(strings.Repeat(" \n \t", 5<<20)),
	} {
		s, _ := Exactly("o3")
		s.AddPlain([]byte("the vocabulary is loaded"))
		began := time.Now()
		s.AddPlain(text)
		if took := time.Since(began); took > 10*time.Second || s.used > exactBudget {
			t.Errorf("%s: %v for %d bytes", name, took, s.used)
		}
	}
}

// BenchmarkExactFirst is what the first call of a process costs more; BenchmarkExact the speed after it.
func BenchmarkExactFirst(b *testing.B) {
	began := time.Now()
	count([]byte("a"))
	first := time.Since(began)
	for b.Loop() {
		count([]byte("a"))
	}
	b.ReportMetric(float64(first.Milliseconds()), "first-ms")
}

func BenchmarkExact(b *testing.B) {
	text := bytes.Repeat([]byte("The committee met twice in spring, and left 12 questions for another day.\n"), exactBudget/75)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		count(text)
	}
}
