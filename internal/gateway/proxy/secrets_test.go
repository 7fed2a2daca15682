// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
)

// geminiKey has the shape of a key that an app puts into the query.
const geminiKey = "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"

// roundTrips is a transport of a function.
type roundTrips func(r *http.Request) (*http.Response, error)

func (f roundTrips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// quoting answers with a status, an error in Google's shape whose message holds the key, and a redirect's address.
func quoting(status int, code, message string) roundTrips {
	return func(r *http.Request) (*http.Response, error) {
		body := fmt.Sprintf(`{"error":{"code":%d,"status":%q,"message":%q}}`, status, code, message)
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
			Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		}, nil
	}
}

// A key in the query reaches the provider, and nothing that anybody reads: no log, no report, no header of ours, and
// none of our own answers, whatever goes wrong.
func TestKeysInQueriesReachNothingThatIsRead(t *testing.T) {
	quoted := "API key " + geminiKey + " of https://x/v1beta?key=" + geminiKey + " is over its quota per day."
	for name, upstream := range map[string]roundTrips{
		"answered":   quoting(http.StatusOK, "OK", "fine"),
		"throttled":  quoting(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "Please retry in 50s. "+quoted),
		"overloaded": quoting(http.StatusServiceUnavailable, "UNAVAILABLE", quoted),
		"unpaid":     quoting(http.StatusPaymentRequired, "payment_required", quoted),
		"forbidden":  quoting(http.StatusForbidden, "PERMISSION_DENIED", quoted),
		"moved":      quoting(http.StatusTemporaryRedirect, "MOVED", quoted),
		"unreachable": func(r *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: errors.New("connection refused")}
		},
		"wrapped": func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("proxy: %w", &url.Error{Op: "Post", URL: r.URL.String(), Err: io.ErrUnexpectedEOF})
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, http.NotFoundHandler(), onePolicy(routeTo("gemini", "Gemini", perMinute("requests", "Requests", 3))), func(w *world) {
				var log bytes.Buffer
				w.gateway.opts.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
				seen := 0
				w.gateway.SetTransport(roundTrips(func(r *http.Request) (*http.Response, error) {
					if r.URL.Query().Get("key") == geminiKey {
						seen++
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_ = r.Body.Close()
					return upstream(r)
				}))
				for range 4 {
					a := w.post("/gemini/v1beta/models/gemini-2.5-pro:generateContent?key="+geminiKey+"&alt=json", `{"contents":[]}`, HeaderDeadline, "20s")
					ours := a.header.Get(HeaderReason) != "" && !strings.Contains(a.body, quoted)
					if strings.Contains(fmt.Sprint(a.header), geminiKey) || ours && strings.Contains(a.body, geminiKey) {
						t.Errorf("an answer of ours holds the key: %v %s", a.header, a.body)
					}
				}
				w.atRest()
				if seen == 0 {
					t.Error("the provider was not given the key")
				}
				if log.Len() == 0 || strings.Contains(log.String(), geminiKey) {
					t.Errorf("the log holds the key, or nothing: %s", &log)
				}
				for _, r := range w.gateway.Snapshot(time.Now(), true) {
					if text := protojson.Format(r); strings.Contains(text, geminiKey) {
						t.Errorf("the report holds the key: %s", text)
					}
				}
				for _, m := range w.gateway.Metrics(time.Now()) {
					if text := fmt.Sprintf("%+v", m.Tally.TokensByModel()); strings.Contains(text, geminiKey) {
						t.Errorf("the metrics hold the key: %s", text)
					}
				}
			})
		})
	}
}

func TestErrorsAreSpokenWithoutTheirURL(t *testing.T) {
	_, escape := url.PathUnescape("/%zz" + geminiKey)
	broken := fmt.Sprintf("http://host/%c?key=%s", 0x7f, geminiKey)
	_, parse := url.Parse(broken)
	for _, err := range []error{
		escape, parse, &url.Error{Op: "Post", URL: "http://x/?key=" + geminiKey, Err: errors.New("EOF")},
		fmt.Errorf("a: %w", &url.Error{Op: "Get", URL: geminiKey, Err: &url.Error{Op: "parse", URL: geminiKey, Err: io.EOF}}),
	} {
		if text := spokenError(err); strings.Contains(text, geminiKey) || text == "" {
			t.Errorf("%v is spoken as %q", err, text)
		}
	}
}

// What an exhausted quota says stays with it: neither a later throttle of another model nor time takes its place, and
// the allowance of a day is awaited for the day.
func TestQuotaKeepsTheProvidersOwnWords(t *testing.T) {
	perDay := `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded for the key ` + geminiKey + `, please retry in 12s.",` +
		`"details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12s"}]}}`
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "pro") {
			fail(w, http.StatusTooManyRequests, perDay)
			return
		}
		fail(w, http.StatusTooManyRequests, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow down, please retry in 50s"}}`)
	})
	simulate(t, s, onePolicy(routeTo("gemini", "Gemini")), func(w *world) {
		ask := func(model string) answer {
			return w.post("/gemini/v1beta/models/"+model+":generateContent?key="+geminiKey, `{"contents":[]}`, HeaderDeadline, "1s")
		}
		first := ask("gemini-2.5-pro")
		until := time.Now().Add(time.Hour) // midnight in California is later: the bubble begins at 0:00 UTC, 16:00 there
		if wait := w.figures("gemini").state(time.Now()).until.Sub(w.start); wait < 7*time.Hour || wait > 9*time.Hour || first.header.Get("Retry-After") != fmt.Sprint(wholeSeconds(wait)) {
			t.Errorf("marked for %s, Retry-After %s", wait, first.header.Get("Retry-After"))
		}
		ask("gemini-2.5-flash")
		time.Sleep(time.Minute)
		if a := ask("gemini-2.5-pro"); a.header.Get(HeaderReason) != reasonQuota || a.body != perDay || s.count() != 2 {
			t.Errorf("answer %d %v after %d sends", a.status, a.header, s.count())
		}
		r := w.gateway.Snapshot(time.Now(), true)[0]
		if r.GetState() != stateQuota || r.GetStateCode() == "" || !strings.Contains(r.GetStateMessage(), "Quota exceeded") || strings.Contains(r.GetStateMessage(), geminiKey) {
			t.Errorf("reported as %s, %q, %q", r.GetState(), r.GetStateCode(), r.GetStateMessage())
		}
		time.Sleep(time.Until(until))
		if ask("gemini-2.5-pro"); s.count() != 3 {
			t.Errorf("after an hour %d sends, want one probe", s.count())
		}
		time.Sleep(8 * time.Hour)
		if got := w.figures("gemini").state(time.Now()); got.name != stateIdle {
			t.Errorf("behind its reset the state is %+v", got)
		}
		w.atRest()
	})
}

// A route that only observes marks nothing, and says all the same that a quota is used up.
func TestObservedQuotaIsReported(t *testing.T) {
	r := openaiRoute()
	r.Observe = true
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusTooManyRequests, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`)
	})
	simulate(t, s, onePolicy(r), func(w *world) {
		for range 2 {
			w.post("/openai/v1/chat/completions", `{"model":"m","messages":[]}`)
		}
		if got := w.figures("openai").state(time.Now()); got.name != stateQuota || got.code != "insufficient_quota" || s.count() != 2 {
			t.Errorf("%+v after %d sends", got, s.count())
		}
		w.atRest()
	})
}

func TestStackedRetriesNameTheirSDK(t *testing.T) {
	for want, h := range map[string]http.Header{
		"openai-go":        {"X-Stainless-Retry-Count": {"1"}, "X-Stainless-Lang": {"go"}, "User-Agent": {"OpenAI/Go 3.0.0"}},
		"openai-python":    {"X-Stainless-Retry-Count": {"2"}, "X-Stainless-Lang": {"python"}, "User-Agent": {"AsyncOpenAI/Python 3.3.1"}},
		"anthropic-node":   {"X-Stainless-Retry-Count": {"1"}, "X-Stainless-Lang": {"js"}, "User-Agent": {"Anthropic/JS 0.70"}},
		"stainless-python": {"X-Stainless-Retry-Count": {"1"}, "X-Stainless-Lang": {"python"}, "User-Agent": {"Groq/Python 1.0"}},
		"other":            {"X-Stainless-Retry-Count": {"1"}, "X-Stainless-Lang": {"cobol"}},
		"aws":              {"Amz-Sdk-Request": {"attempt=2; max=3"}},
	} {
		if got := stackedBy(h); got != want {
			t.Errorf("%v is a retry of %q, want %q", h, got, want)
		}
	}
	for _, h := range []http.Header{
		{},
		{"X-Stainless-Retry-Count": {"0"}},
		{"X-Stainless-Retry-Count": {"-1"}},
		{"X-Stainless-Retry-Count": {"x"}},
		{"X-Stainless-Retry-Count": {}},
		{"Amz-Sdk-Request": {"attempt=1; max=3"}},
		{"Amz-Sdk-Request": {"max=3"}},
		{"Amz-Sdk-Request": {"attempt=; max=3"}},
		{"Amz-Sdk-Request": {""}},
	} {
		if got := stackedBy(h); got != "" {
			t.Errorf("%v is no retry, and was taken for one of %s", h, got)
		}
	}
}
