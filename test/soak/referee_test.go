// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/soak/referee"
)

var start = time.Unix(1_700_000_000, 0)

func after(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func never(time.Time, time.Time) bool { return false }

func always(time.Time, time.Time) bool { return true }

func arrival(id string, came, answered float64, status int, wait, count string) fakeprovider.Arrival {
	return fakeprovider.Arrival{
		TimeUnixNano: after(came).UnixNano(), AnsweredUnixNano: after(answered).UnixNano(), Status: status, RetryAfterMs: wait,
		Headers: map[string]string{lowerID: id, lowerCount: count}, Model: "m",
	}
}

func TestRefereeFindsCallsThatComeEarly(t *testing.T) {
	refused := arrival("a", 0, 1, http.StatusTooManyRequests, "9000", "0")
	for name, tc := range map[string]struct {
		next          fakeprovider.Arrival
		killed        func(time.Time, time.Time) bool
		guided, early int
	}{
		"at the moment":            {arrival("a", 10, 11, 200, "", "0"), never, 1, 0},
		"a millisecond early":      {arrival("a", 9.999, 11, 200, "", "0"), never, 1, 1},
		"another call":             {arrival("b", 5, 6, 200, "", "0"), never, 0, 0},
		"the SDK's own, forgotten": {arrival("a", 5, 6, 200, "", "1"), always, 0, 0},
		"the SDK's own":            {arrival("a", 5, 6, 200, "", "1"), never, 1, 1},
		"the gateway's, excuse":    {arrival("a", 5, 6, 200, "", "0"), always, 1, 1},
	} {
		w := checkWaits([]fakeprovider.Arrival{refused, tc.next}, tc.killed)
		if w.guided != tc.guided || len(w.early) != tc.early {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

func TestRefereeFindsCallsToAnExhaustedQuota(t *testing.T) {
	exhausted := arrival("a", 0, 0, http.StatusTooManyRequests, "", "0")
	exhausted.Model, exhausted.Fault = quotaModel, fakeprovider.FaultQuota
	for gap, want := range map[float64]int{59.9: 1, 60: 0, 300: 0} {
		next := arrival("b", gap, gap, 200, "", "0")
		next.Model = quotaModel
		if n, wrong := checkQuota([]fakeprovider.Arrival{exhausted, next}, never); n != 1 || len(wrong) != want {
			t.Errorf("after %v s: %v", gap, wrong)
		}
		if _, wrong := checkQuota([]fakeprovider.Arrival{exhausted, next}, always); len(wrong) != 0 {
			t.Errorf("after %v s and a restart: %v", gap, wrong)
		}
	}
}

func TestRefereeCountsWhatRefusalsCost(t *testing.T) {
	list := []fakeprovider.Arrival{
		{Status: 200, InputTokens: 5},
		{Status: 429, InputTokens: 7},
		{Status: 529, InputTokens: 7},
		{Status: 0, InputTokens: 11},
		{Status: 200, InputTokens: 13, Fault: fakeprovider.FaultStreamOverload},
	}
	sum := func(list []referee.Spending) (n float64) {
		for _, s := range list {
			n += s.Cost
		}
		return n
	}
	if got := sum(costs(list, nil)); got != 5 {
		t.Errorf("%v requests", got)
	}
	if got := sum(costs(list, func(a *fakeprovider.Arrival) int64 { return a.InputTokens })); got != 5+11 {
		t.Errorf("%v tokens", got)
	}
}

// TestJudgeTellsWholeFromBroken: what is not the provider's answer to the last byte is never taken for it.
func TestJudgeTellsWholeFromBroken(t *testing.T) {
	took := func(text string, done bool, usage int64, err error) answer {
		a := answer{done: done, usage: usage, err: err}
		var c content
		c.text.WriteString(text)
		c.into(&a)
		return a
	}
	text := fakeprovider.Text(3)
	swapped := text[4:8] + text[:4] + text[8:]
	refusal := answer{status: http.StatusTooManyRequests, said: "{headgate: x}", err: errors.New("x")}
	for name, tc := range map[string]struct {
		a    answer
		gone bool
		want string
	}{
		"whole":                 {took(text, true, 3, nil), false, whole},
		"short, without error":  {took(text[:8], true, 3, nil), false, corrupt},
		"no end, without error": {took(text, false, 3, nil), false, corrupt},
		"nothing, no error":     {took("", false, 0, nil), false, corrupt},
		"out of order":          {took(swapped, true, 3, nil), false, corrupt},
		"doubled":               {took(text+text, true, 3, nil), false, corrupt},
		"wrong usage":           {took(text, true, 4, nil), false, corrupt},
		"broken with an error":  {took(text[:8], false, 0, io.ErrUnexpectedEOF), false, broken},
		"broken and wrong":      {took("xxx ", false, 0, io.ErrUnexpectedEOF), false, corrupt},
		"left":                  {took(text[:8], false, 0, io.ErrUnexpectedEOF), true, left},
		"cut":                   {took("", false, 0, io.EOF), false, cut},
		"declined":              {refusal, false, declined},
		"passed on":             {answer{status: 529, said: "{overloaded}", err: errors.New("x")}, false, passedOn},
	} {
		got, wrong := judge(&call{output: 3}, &tc.a, tc.gone)
		if got != tc.want || (wrong != "") != (tc.want == corrupt) {
			t.Errorf("%s: %s %q", name, got, wrong)
		}
	}
}

func TestSampleReadsMetrics(t *testing.T) {
	const text = `# HELP go_goroutines Goroutines that exist.
go_goroutines 17
headgate_reserved{provider="openai"} 3
headgate_queue_depth{lane="a"} 1
headgate_queue_depth{lane="b"} 2
headgate_queue_oldest_seconds{lane="a"} 0.5
headgate_limit_capacity{limit="in-flight"} 64
headgate_limit_remaining{limit="in-flight"} 60
headgate_limit_capacity{limit="tokens"} 48000
headgate_calls_offered_total{lane="a"} 9
headgate_calls_total{lane="a",outcome="success"} 8
`
	var got sample
	if err := got.read(strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	want := sample{goroutines: 17, reserved: 3, queued: 3, oldest: 0.5, inUse: 4, capacity: 48000, offered: 9, ended: 8}
	if got != want {
		t.Errorf("%+v", got)
	}
	if err := got.read(strings.NewReader("x y\n")); err == nil {
		t.Error("a value that is no number is read")
	}
}

// TestSDKsGetWhatTheRefereeExpects: the prompt has the tokens it is to have, and both SDKs' answers are whole.
func TestSDKsGetWhatTheRefereeExpects(t *testing.T) {
	provider := fakeprovider.New(fakeprovider.Options{})
	server := httptest.NewServer(http.StripPrefix("/openai", provider))
	defer server.Close()
	claudes := httptest.NewServer(http.StripPrefix("/anthropic", provider))
	defer claudes.Close()
	for name, s := range map[string]sdk{
		"openai": newOpenAI(server.URL, "sk-1", server.Client()), "anthropic": newClaude(claudes.URL, "sk-1", claudes.Client()),
	} {
		for _, stream := range []bool{false, true} {
			c := &call{id: "x", model: "m", input: 500, output: 7, stream: stream}
			ask := s.once
			if stream {
				ask = s.stream
			}
			a := ask(t.Context(), c)
			if outcome, wrong := judge(c, &a, false); outcome != whole {
				t.Errorf("%s, stream %v: %s %s %v", name, stream, outcome, wrong, a.err)
			}
		}
	}
	for _, a := range provider.Arrivals() {
		if a.InputTokens < 490 || a.InputTokens > 500 || a.OutputTokens != 7 || a.Headers[lowerID] != "x" {
			t.Errorf("the provider counted %+v", a)
		}
	}
}
