// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// streamsBehindPings are streams however they are called, and what of them the client gets.
var streamsBehindPings = map[string]struct {
	media  string // "-" is none
	status int
	before string // what comes first, and gets is what the client has of that
	gets   string
}{
	"no type":                    {"-", http.StatusOK, "", ""},
	"text":                       {"text/plain; charset=utf-8", http.StatusOK, "", ""},
	"bytes":                      {"application/octet-stream", http.StatusOK, "", ""},
	"a document's":               {"application/json", http.StatusOK, "", ""},
	"created":                    {"text/event-stream", http.StatusCreated, "", ""},
	"created, no type":           {"-", http.StatusCreated, "", ""},
	"a byte order mark":          {"text/event-stream", http.StatusOK, "\ufeff", ""},
	"a byte order mark, no type": {"-", http.StatusOK, "\ufeff", ""},
	"empty lines":                {"text/event-stream", http.StatusOK, "\r\n\n", "\r\n\n"},
	"a comment":                  {"-", http.StatusOK, ": hello\n\n", ": hello\n\n"},
	"an id":                      {"-", http.StatusOK, "id: 1\n", "id: 1\n"},
	"a time":                     {"-", http.StatusOK, "retry: 5\n", "retry: 5\n"},
	"a field of its own":         {"Text/Event-Stream", http.StatusOK, "model: m\n", "model: m\n"},
}

// TestB14StreamsGoOnBehindPingsWhateverTheyAreCalled: they were made and are charged, and SDKs that have a stream ask no type.
func TestB14StreamsGoOnBehindPingsWhateverTheyAreCalled(t *testing.T) {
	for _, form := range []string{"Anthropic", "OpenAI's chat"} {
		form := aliveForms[form]
		for name, tc := range streamsBehindPings {
			t.Run(form.route+", "+name, func(t *testing.T) {
				s := behind(15*time.Second, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tc.media)
					if tc.media == "-" {
						w.Header()["Content-Type"] = nil
					}
					w.WriteHeader(tc.status)
					for _, b := range []byte(tc.before + form.answer) {
						_, _ = w.Write([]byte{b})
						_ = http.NewResponseController(w).Flush()
					}
				})
				simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
					w.occupied(form.path, form.body, func() {
						l := w.listen(w.t.Context(), form.path, form.body)
						if l.status != http.StatusOK || l.err != nil || l.text != form.ping+tc.gets+form.answer {
							t.Errorf("answer %d %q: %v", l.status, l.text, l.err)
						}
					})
					w.atRest()
					w.endedAsOf(form.route, outcomeSuccess, 2)
				})
			})
		}
	}
}

// TestB14ProvidersLineEndsPassBehindPings at once: some keep their streams alive by them.
func TestB14ProvidersLineEndsPassBehindPings(t *testing.T) {
	form := aliveForms["Anthropic"]
	s := behind(15*time.Second, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			_, _ = io.WriteString(w, "\n")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Second)
		}
		_, _ = io.WriteString(w, form.answer)
	})
	simulate(t, s, onePolicy(slotOf(form.route, form.dialect, 2*time.Minute)), func(w *world) {
		w.occupied(form.path, form.body, func() {
			l := w.listen(w.t.Context(), form.path, form.body)
			if l.err != nil || l.text != form.ping+"\n\n\n"+form.answer {
				t.Errorf("%q: %v", l.text, l.err)
			}
			last := l.headed
			for _, p := range l.pieces {
				if p.at-last > mostSilent {
					t.Errorf("silence from %s to %s", last, p.at)
				}
				last = p.at
			}
		})
		w.atRest()
	})
}

// TestB14BedrocksStreamsOfEventsHearPingsAndErrors, as their formats have them: only its own are AWS' frames.
func TestB14BedrocksStreamsOfEventsHearPingsAndErrors(t *testing.T) {
	for name, tc := range map[string]struct{ form, path, failure string }{
		"chat":      {"OpenAI's chat", "/bedrock/openai/v1/chat/completions", "data: {\"error\":{"},
		"responses": {"OpenAI's responses", "/bedrock/openai/v1/responses", "event: error\ndata: {\"type\":\"error\","},
		"messages":  {"Anthropic", "/bedrock/anthropic/v1/messages", "event: error\ndata: {\"type\":\"error\","},
	} {
		for _, fails := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				form := aliveForms[tc.form]
				s := behind(25*time.Second, func(w http.ResponseWriter, _ *http.Request) {
					if fails {
						fail(w, http.StatusBadRequest, `{"message":"no such model"}`, "X-Amzn-ErrorType", "ValidationException")
						return
					}
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, form.answer)
				})
				simulate(t, s, onePolicy(slotOf("bedrock", "Bedrock", 2*time.Minute)), func(w *world) {
					w.occupied(tc.path, form.body, func() {
						l := w.listen(w.t.Context(), tc.path, form.body, "Authorization", "Bearer abc")
						rest, found := strings.CutPrefix(l.text, form.ping+form.ping)
						if l.status != http.StatusOK || l.err != nil || !found || !fails && rest != form.answer {
							t.Errorf("answer %d %q: %v", l.status, l.text, l.err)
						}
						if fails && (!strings.HasPrefix(rest, tc.failure) || !strings.Contains(rest, "no such model") || !strings.HasSuffix(rest, "}\n\n")) {
							t.Errorf("%q", rest)
						}
					})
					w.atRest()
				})
			})
		}
	}
}

// TestTheCourseOfAnAnswerIsToldByItsFirstBytes, however they are cut.
func TestTheCourseOfAnAnswerIsToldByItsFirstBytes(t *testing.T) {
	for _, tc := range []struct {
		text         string
		typed, plain course
	}{
		{"", opens, opens},
		{" \r\n\t", opens, opens},
		{"\ufeff", opens, opens},
		{"data: x", goesOn, goesOn},
		{"data", goesOn, opens},
		{"event:", goesOn, goesOn},
		{"events:", goesOn, isHeld},
		{":", goesOn, goesOn},
		{"Data: x", goesOn, isHeld},
		{"upstream connect error", goesOn, isHeld},
		{`{"type":"error"}`, isHeld, isHeld},
		{"\ufeff\n {", isHeld, isHeld},
		{"[", isHeld, isHeld},
		{"<html>", isHeld, isHeld},
		{`"no"`, isHeld, isHeld},
		{strings.Repeat(" ", maxFailureBody), isHeld, isHeld},
	} {
		for _, typed := range []bool{true, false} {
			want := tc.plain
			if typed {
				want = tc.typed
			}
			for _, step := range []int{1, 2, max(len(tc.text), 1)} {
				if len(tc.text) > 100 && step < len(tc.text) {
					continue
				}
				a := &alive{w: httptest.NewRecorder(), course: opens, typed: typed}
				var passed string
				for i := 0; i < len(tc.text); i += step {
					passed += string(a.takes([]byte(tc.text[i:min(i+step, len(tc.text))])))
				}
				if a.course != want {
					t.Errorf("%.20q, typed %v, by %d: %d, want %d", tc.text, typed, step, a.course, want)
				}
				if all := strings.TrimPrefix(tc.text, "\ufeff"); passed+string(a.body) != all {
					t.Errorf("%.20q, typed %v, by %d: %.20q passed, %.20q is held", tc.text, typed, step, passed, a.body)
				}
			}
		}
	}
}
