// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

const streamBody = `{"model":"m","max_tokens":20,"stream":true,"messages":[{"content":"[[output=10]]"}]}`

// send calls a served provider and reads the whole answer.
func send(t *testing.T, server *httptest.Server, path, body string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "sk-test")
	req.Header.Set("Authorization", "Bearer sk-test")
	res, err := server.Client().Do(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	got, err := io.ReadAll(res.Body)
	return res, string(got), err
}

func inject(t *testing.T, s *fakeprovider.Server, faults ...fakeprovider.Fault) {
	t.Helper()
	if err := s.Inject(faults...); err != nil {
		t.Fatal(err)
	}
}

func TestStreamFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		fault            fakeprovider.Fault
		deltas           int
		wantErr          error
		contains, absent string
	}{
		"overload before content": {
			fakeprovider.Fault{Kind: fakeprovider.FaultStreamOverload}, 0, nil, "event: ping", "content_block_start",
		},
		"overload after content": {
			fakeprovider.Fault{Kind: fakeprovider.FaultStreamOverload, AfterContent: 3}, 3, nil, "overloaded_error", "message_stop",
		},
		"clean truncation": {
			fakeprovider.Fault{Kind: fakeprovider.FaultTruncate, AfterContent: 5}, 5, nil, "message_start", "message_stop",
		},
		"reset": {
			fakeprovider.Fault{Kind: fakeprovider.FaultReset, AfterContent: 4}, 4, syscall.ECONNRESET, "message_start", "message_stop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, server := start(t, fakeprovider.Options{})
			inject(t, s, tc.fault)
			res, body, err := send(t, server, "/v1/messages", streamBody)
			if !errors.Is(err, tc.wantErr) || res.StatusCode != http.StatusOK {
				t.Errorf("ended with %v, want %v", err, tc.wantErr)
			}
			// What was in flight when the connection was reset may be lost.
			if got := strings.Count(body, "event: content_block_delta"); got != tc.deltas && tc.wantErr == nil || got > tc.deltas {
				t.Errorf("%d deltas, want %d", got, tc.deltas)
			}
			if tc.wantErr == nil && !strings.Contains(body, tc.contains) || strings.Contains(body, tc.absent) {
				t.Errorf("want %q and not %q in %q", tc.contains, tc.absent, body)
			}
			_, body, err = send(t, server, "/v1/messages", streamBody)
			if err != nil || !strings.Contains(body, "message_stop") {
				t.Errorf("the call after the fault: %v, %q", err, body)
			}
		})
	}
}

// writes records what each write of an answer carried.
type writes struct {
	*httptest.ResponseRecorder
	chunks []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.chunks = append(w.chunks, string(p))
	return w.ResponseRecorder.Write(p)
}

func TestErrorInTheSameWriteAsContent(t *testing.T) {
	s := fakeprovider.New(fakeprovider.Options{})
	inject(t, s, fakeprovider.Fault{Kind: fakeprovider.FaultStreamOverload, AfterContent: 1, OneWrite: true})
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(streamBody))
	r.Header.Set("X-Api-Key", "sk-test")
	w := &writes{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, r)
	last := w.chunks[len(w.chunks)-1]
	if !strings.Contains(last, "content_block_delta") || !strings.Contains(last, "overloaded_error") {
		t.Errorf("last write = %q", last)
	}
}

func TestResetBeforeAnyAnswer(t *testing.T) {
	s, server := start(t, fakeprovider.Options{})
	inject(t, s, fakeprovider.Fault{Kind: fakeprovider.FaultReset})
	if _, _, err := send(t, server, "/v1/messages", streamBody); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want a reset connection", err)
	}
}

func TestThrottleFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		fault   fakeprovider.Fault
		headers map[string]string
	}{
		"no guidance": {
			fakeprovider.Fault{Kind: fakeprovider.FaultThrottle},
			map[string]string{"Retry-After": "", "Retry-After-Ms": "", "Anthropic-Ratelimit-Input-Tokens-Reset": ""},
		},
		"seconds": {
			fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "61"}, map[string]string{"Retry-After": "61"},
		},
		"milliseconds": {
			fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfterMs: "-1"}, map[string]string{"Retry-After-Ms": "-1"},
		},
		"junk": {
			fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "NaN"}, map[string]string{"Retry-After": "NaN"},
		},
		"any header": {
			fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, Headers: map[string][]string{"x-ratelimit-reset-tokens": {"6m0s"}}},
			map[string]string{"X-Ratelimit-Reset-Tokens": "6m0s"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakeprovider.New(fakeprovider.Options{})
			inject(t, s, tc.fault)
			res := claude(s, 10, 1)
			if res.StatusCode != http.StatusTooManyRequests {
				t.Fatalf("status %d", res.StatusCode)
			}
			for name, want := range tc.headers {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if res := claude(s, 10, 1); res.StatusCode != http.StatusOK {
				t.Errorf("the next call got %d", res.StatusCode)
			}
			if got := s.Arrivals()[0].Verdict; got != "Fault" {
				t.Errorf("verdict %q", got)
			}
		})
	}
}

func TestFaultsMatchOnlyWhatTheyName(t *testing.T) {
	s := fakeprovider.New(fakeprovider.Options{})
	yes := true
	inject(t, s,
		fakeprovider.Fault{Kind: fakeprovider.FaultOverload, Model: "other"},
		fakeprovider.Fault{Kind: fakeprovider.FaultOverload, Dialect: fakeprovider.OpenAI},
		fakeprovider.Fault{Kind: fakeprovider.FaultOverload, Key: "nobody"},
		fakeprovider.Fault{Kind: fakeprovider.FaultOverload, Stream: &yes},
		fakeprovider.Fault{Kind: fakeprovider.FaultRejectStreamOptions, Count: -1},
	)
	if res := claude(s, 10, 1); res.StatusCode != http.StatusOK {
		t.Errorf("status %d for a call that no fault names", res.StatusCode)
	}
	const chat = `{"model":"gpt","messages":[{"content":"x"}],"stream":true,"stream_options":{"include_usage":true}}`
	if res := post(s, "/v1/chat/completions", chat); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d for the dialect named", res.StatusCode)
	}
	if res := post(s, "/v1/messages", streamBody); res.StatusCode != 529 {
		t.Errorf("status %d for a stream", res.StatusCode)
	}
	for range 2 {
		if res := post(s, "/v1/chat/completions", chat); res.StatusCode != http.StatusBadRequest {
			t.Errorf("status %d for stream_options", res.StatusCode)
		}
	}
	plain := strings.Replace(chat, `,"stream_options":{"include_usage":true}`, "", 1)
	if res := post(s, "/v1/chat/completions", plain); res.StatusCode != http.StatusOK {
		t.Errorf("status %d without stream_options", res.StatusCode)
	}
}

func TestSlowAnswersTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeprovider.New(fakeprovider.Options{FirstByte: time.Second, PerToken: 10 * time.Millisecond})
		inject(t, s, fakeprovider.Fault{Kind: fakeprovider.FaultSlow, FirstByteMillis: 2_000, ChunkMillis: 500})
		began := time.Now()
		post(s, "/v1/messages", streamBody)
		if got, want := time.Since(began), 3*time.Second+10*510*time.Millisecond; got != want {
			t.Errorf("took %v, want %v", got, want)
		}
		began = time.Now()
		post(s, "/v1/messages", strings.Replace(streamBody, "true", "false", 1))
		if got, want := time.Since(began), time.Second+10*10*time.Millisecond; got != want {
			t.Errorf("took %v without a stream, want %v", got, want)
		}
	})
}

func TestGzip(t *testing.T) {
	s, server := start(t, fakeprovider.Options{})
	inject(t, s, fakeprovider.Fault{Kind: fakeprovider.FaultGzip})
	res, body, err := send(t, server, "/v1/messages", strings.Replace(streamBody, "true", "false", 1))
	if err != nil || !res.Uncompressed || !json.Valid([]byte(body)) {
		t.Errorf("uncompressed by the client: %v, %q, %v", res.Uncompressed, body, err)
	}
}

// TestDisconnectIsNoticed: a caller that leaves ends the call at once, and the log says so.
func TestDisconnectIsNoticed(t *testing.T) {
	s, server := start(t, fakeprovider.Options{PerToken: time.Hour})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/v1/messages", strings.NewReader(streamBody))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "sk-test")
	req.Header.Set("Authorization", "Bearer sk-test")
	res, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	deadline := time.Now().Add(20 * time.Second)
	for s.Arrivals()[0].EndedUnixNano == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the provider did not notice")
		}
		<-time.After(time.Millisecond)
	}
	if !s.Arrivals()[0].ClientGone || s.InFlight() > 1 {
		t.Errorf("arrival = %+v", s.Arrivals()[0])
	}
}

func TestSkewMovesDateAndResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakeprovider.New(fakeprovider.Options{Skew: time.Hour})
		res := claude(s, 40_000, 1)
		date, err := http.ParseTime(res.Header.Get("Date"))
		if err != nil || date.Sub(time.Now().Truncate(time.Second)) != time.Hour {
			t.Errorf("Date %v, %v", date, err)
		}
		reset, err := time.Parse(time.RFC3339, res.Header.Get("Anthropic-Ratelimit-Input-Tokens-Reset"))
		if err != nil || reset.Sub(date) != 6*time.Second {
			t.Errorf("reset %v after Date, %v; want 6s", reset.Sub(date), err)
		}
		s.SetSkew(0)
		if date, _ := http.ParseTime(claude(s, 1, 1).Header.Get("Date")); time.Until(date) > time.Second {
			t.Errorf("Date %v after the skew was taken back", date)
		}
	})
}

func TestAdmin(t *testing.T) {
	s, server := start(t, fakeprovider.Options{})
	admin := func(method, path, body string) (int, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, got
	}
	for _, tc := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/_fake/healthz", "", 200},
		{"POST", "/_fake/level", `{"budget":"InputTokens","percent":0}`, 200},
		{"POST", "/_fake/level", `{"bugdet":"InputTokens"}`, 400},
		{"POST", "/_fake/faults", `{"kind":"Overload"}`, 204},
		{"POST", "/_fake/faults", `[{"kind":"Throttle","retryAfter":"9"},{"kind":"Overload"}]`, 204},
		{"POST", "/_fake/faults", `{"kind":"Nonsense"}`, 400},
		{"POST", "/_fake/faults", `{"kind":"Respond"}`, 400},
		{"DELETE", "/_fake/faults", "", 204},
		{"POST", "/_fake/skew", `{"duration":"-4s"}`, 204},
		{"POST", "/_fake/skew", `{"duration":"soon"}`, 400},
		{"GET", "/_fake/nothing", "", 404},
	} {
		if got, body := admin(tc.method, tc.path, tc.body); got != tc.want {
			t.Errorf("%s %s %s: %d %s, want %d", tc.method, tc.path, tc.body, got, body, tc.want)
		}
	}
	if res := claude(s, 60_000, 1); res.StatusCode != http.StatusTooManyRequests {
		t.Errorf("status %d on a bucket set to 0", res.StatusCode)
	}
	_, raw := admin("GET", "/_fake/arrivals", "")
	var arrivals []fakeprovider.Arrival
	if err := json.Unmarshal(raw, &arrivals); err != nil || len(arrivals) != 1 || arrivals[0].Verdict != "Throttled" {
		t.Errorf("arrivals = %s, %v", raw, err)
	}
	if bytes.Contains(raw, []byte("sk-test")) {
		t.Error("an API key is in the log")
	}
	if _, raw := admin("GET", "/_fake/arrivals?since=1", ""); string(raw) != "[]\n" {
		t.Errorf("arrivals since the last = %s", raw)
	}
	if _, raw := admin("POST", "/_fake/reset", ""); !bytes.Contains(raw, []byte(`"calls":0`)) {
		t.Errorf("after a reset: %s", raw)
	}
}

func FuzzParseFaults(f *testing.F) {
	f.Add([]byte(`[{"kind":"Throttle","retryAfter":"9","count":-1}]`))
	f.Add([]byte(`{"kind":"Respond","status":200,"headers":{"a":["b"]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		faults, err := fakeprovider.ParseFaults(raw)
		if err != nil {
			return
		}
		s := fakeprovider.New(fakeprovider.Options{MaxFaults: 10})
		if err := s.Inject(faults...); err == nil && len(faults) > 10 {
			t.Errorf("%d faults accepted", len(faults))
		}
	})
}

func FuzzCall(f *testing.F) {
	f.Add("/v1/messages", []byte(streamBody))
	f.Add("/v1/chat/completions", []byte(`{"model":"m","n":-1,"messages":[{"content":[{"type":"image"}]}],"max_tokens":-5}`))
	f.Add("/v1/embeddings", []byte(`{"model":"m","input":[[1,2],[3]],"dimensions":-1,"encoding_format":"base64"}`))
	f.Add("/v1/responses", []byte(`{"model":"m","input":"[[output=999999999]][[input=5]]"}`))
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		if !strings.HasPrefix(path, "/v1/") || strings.ContainsAny(path, " \x00\r\n%?#") {
			return
		}
		for _, c := range []byte(path) {
			if c <= ' ' || c > '~' {
				return
			}
		}
		s := fakeprovider.New(fakeprovider.Options{})
		res := post(s, path, string(body))
		if res.StatusCode < 200 || res.StatusCode > 599 {
			t.Errorf("status %d", res.StatusCode)
		}
		for _, a := range s.Stats().Accounts {
			for _, b := range a.Budgets {
				if b.Spent < 0 || b.Level > b.Burst {
					t.Errorf("figures = %+v", b)
				}
			}
		}
	})
}
