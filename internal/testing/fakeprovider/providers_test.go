// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/shapes"
)

// only is a provider with one limit for the shape's dialect.
func only(s shapes.Shape, charges fakeprovider.Charges, l fakeprovider.Limit) *fakeprovider.Server {
	return fakeprovider.New(fakeprovider.Options{Profiles: map[fakeprovider.Dialect]fakeprovider.Profile{
		s.Dialect: {Limits: []fakeprovider.Limit{l}, Charges: charges},
	}})
}

// TestEachProviderMetersItsCalls: what a call costs is taken from the bucket of the shape's own dialect, whatever
// the shape, and what it did not use comes back.
func TestEachProviderMetersItsCalls(t *testing.T) {
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, stream := range []bool{false, true} {
					path, body := s.Path, s.Body
					if stream {
						path, body = s.StreamPath, s.StreamBody
					}
					provider := only(s, fakeprovider.EstimateThenActual, fakeprovider.Limit{
						Budget: fakeprovider.Tokens, Amount: 60_000, Window: time.Minute,
					})
					w := httptest.NewRecorder()
					provider.ServeHTTP(w, request(s, path, body))
					a := provider.Arrivals()[0]
					if w.Code != http.StatusOK || a.Dialect != s.Dialect || a.Stream != stream || a.InputTokens != 50 || a.OutputTokens != 3 {
						t.Errorf("status %d, arrival %+v", w.Code, a)
					}
					accounts := provider.Stats().Accounts
					if len(accounts) != 1 || accounts[0].Budgets[0].Spent != 53 {
						t.Errorf("stream %v: accounts = %+v, want 53 tokens spent", stream, accounts)
					}
				}
			})
		})
	}
}

// TestEachProviderRefusesOnAnEmptyBucket: a call is refused, is not refunded for it, and passes a moment later.
func TestEachProviderRefusesOnAnEmptyBucket(t *testing.T) {
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				provider := only(s, fakeprovider.EstimateThenActual, fakeprovider.Limit{
					Budget: fakeprovider.Tokens, Amount: 6_000, Window: time.Minute,
				})
				provider.SetLevel("", 0)
				code := func() int {
					w := httptest.NewRecorder()
					provider.ServeHTTP(w, request(s, s.Path, s.Body))
					return w.Code
				}
				if got := code(); got != http.StatusTooManyRequests && (got != http.StatusServiceUnavailable || s.Name != "Ollama") {
					t.Errorf("status = %d on an empty bucket", got)
				}
				if level := provider.Stats().Accounts[0].Budgets[0].Level; level != 0 {
					t.Errorf("level = %v after a refusal, want 0", level)
				}
				time.Sleep(time.Second)
				if got := code(); got != http.StatusOK {
					t.Errorf("status = %d with 100 tokens", got)
				}
				if a := provider.Arrivals()[0]; a.Verdict != "Throttled" {
					t.Errorf("arrival = %+v", a)
				}
			})
		})
	}
}

// TestFaultsWorkForEveryShape plays each kind of fault that is not of one API alone.
func TestFaultsWorkForEveryShape(t *testing.T) {
	kinds := map[string]struct {
		fault  fakeprovider.Fault
		stream bool
		check  func(t *testing.T, s shapes.Shape, res *http.Response, body string, err error)
	}{
		"respond": {
			fault: fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: http.StatusTeapot, Body: "teapot", Headers: map[string][]string{"X-A": {"b"}}},
			check: func(t *testing.T, _ shapes.Shape, res *http.Response, body string, err error) {
				t.Helper()
				if err != nil || res.StatusCode != http.StatusTeapot || body != "teapot" || res.Header.Get("X-A") != "b" {
					t.Errorf("%v, %q, %v", res, body, err)
				}
			},
		},
		"throttle with guidance": {
			fault: fakeprovider.Fault{Kind: fakeprovider.FaultThrottle, RetryAfter: "7"},
			check: func(t *testing.T, _ shapes.Shape, res *http.Response, _ string, err error) {
				t.Helper()
				if err != nil || res.StatusCode < 400 || res.Header.Get("Retry-After") != "7" {
					t.Errorf("%v, %v", res, err)
				}
			},
		},
		"reset": {
			fault: fakeprovider.Fault{Kind: fakeprovider.FaultReset},
			check: func(t *testing.T, _ shapes.Shape, _ *http.Response, _ string, err error) {
				t.Helper()
				if !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("error = %v", err)
				}
			},
		},
		"reset in mid-stream": {
			stream: true, fault: fakeprovider.Fault{Kind: fakeprovider.FaultReset, AfterContent: 1},
			check: func(t *testing.T, s shapes.Shape, _ *http.Response, body string, err error) {
				t.Helper()
				if err == nil || s.IsWhole(body) {
					t.Errorf("%q, %v", body, err)
				}
			},
		},
		"truncate": {
			stream: true, fault: fakeprovider.Fault{Kind: fakeprovider.FaultTruncate, AfterContent: 1},
			check: func(t *testing.T, s shapes.Shape, res *http.Response, body string, err error) {
				t.Helper()
				if err != nil || res.StatusCode != http.StatusOK || body == "" || s.IsWhole(body) {
					t.Errorf("%v, %q, %v", res, body, err)
				}
			},
		},
		"slow": {
			stream: true, fault: fakeprovider.Fault{Kind: fakeprovider.FaultSlow, FirstByteMillis: 5, ChunkMillis: 5},
			check: func(t *testing.T, s shapes.Shape, res *http.Response, body string, err error) {
				t.Helper()
				if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(body, s.End) {
					t.Errorf("%v, %q, %v", res, body, err)
				}
			},
		},
		"hang": {
			fault: fakeprovider.Fault{Kind: fakeprovider.FaultHang, FirstByteMillis: 5},
			check: func(t *testing.T, _ shapes.Shape, _ *http.Response, _ string, err error) {
				t.Helper()
				if err == nil {
					t.Error("no error")
				}
			},
		},
		"gzip": {
			fault: fakeprovider.Fault{Kind: fakeprovider.FaultGzip},
			check: func(t *testing.T, _ shapes.Shape, res *http.Response, body string, err error) {
				t.Helper()
				if err != nil || !res.Uncompressed || !strings.HasPrefix(body, "{") {
					t.Errorf("%v, %q, %v", res, body, err)
				}
			},
		},
	}
	for _, s := range shapes.All() {
		for name, tc := range kinds {
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				provider, server := start(t, fakeprovider.Options{})
				inject(t, provider, tc.fault)
				path, body := s.Path, s.Body
				if tc.stream {
					path, body = s.StreamPath, s.StreamBody
				}
				res, got, err := send(t, server, s.At(path), body)
				tc.check(t, s, res, got, err)
				if n := provider.Stats().Faults[tc.fault.Kind]; n != 1 {
					t.Errorf("%d faults were played", n)
				}
			})
		}
	}
}

const (
	vertexGoogle = "/v1/projects/p/locations/us-central1/publishers/google/models/m:"
	vertexClaude = "/v1/projects/p/locations/us-east5/publishers/anthropic/models/m:"
	awsBody      = `{"messages":[{"role":"user","content":[{"text":"hello"}]}]}`
)

// TestPathsWithoutAPrefix: what is only one provider's is found without its name, and Options.Dialect decides the
// rest.
func TestPathsWithoutAPrefix(t *testing.T) {
	for path, want := range map[string]fakeprovider.Dialect{
		"/v1/chat/completions": fakeprovider.OpenAI, "/v1/messages": fakeprovider.Anthropic,
		"/v1beta/models/m:generateContent":                                   fakeprovider.Gemini,
		vertexGoogle + "streamGenerateContent":                               fakeprovider.VertexAI,
		vertexClaude + "rawPredict":                                          fakeprovider.VertexAI,
		"/model/arn:aws:bedrock:eu-central-1:1:inference-profile/m/converse": fakeprovider.Bedrock,
		"/v2/chat": fakeprovider.Cohere, "/api/chat": fakeprovider.SelfHosted, "/generate": fakeprovider.SelfHosted,
		"/openai/deployments/m/chat/completions": fakeprovider.AzureOpenAI,
		"/inference/v1/chat/completions":         fakeprovider.Fireworks, "/chat/completions": fakeprovider.DeepSeek,
		"/api/v1/chat/completions": fakeprovider.OpenRouter, "/inference/chat/completions": fakeprovider.GitHubModels,
		"/orgs/o/inference/embeddings": fakeprovider.GitHubModels, "/generic/any": fakeprovider.Generic,
		"/nowhere": fakeprovider.OpenAI, "/_p/nobody/v1/chat/completions": fakeprovider.Generic,
		"/_p/xai/v1/chat/completions": fakeprovider.XAI,
	} {
		provider := fakeprovider.New(fakeprovider.Options{})
		provider.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}")))
		if got := provider.Arrivals()[0].Dialect; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	provider := fakeprovider.New(fakeprovider.Options{Dialect: fakeprovider.Mistral})
	for _, path := range []string{"/v1/chat/completions", "/v1beta/models/m:generateContent"} {
		provider.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}")))
		if got := provider.Arrivals(); got[len(got)-1].Dialect != fakeprovider.Mistral {
			t.Errorf("%s is %s, want Mistral", path, got[len(got)-1].Dialect)
		}
	}
}

// TestKeysAreTakenOnlyFromTheirPlaces: each provider looks where its SDKs put the key, and nowhere else.
func TestKeysAreTakenOnlyFromTheirPlaces(t *testing.T) {
	for name, tc := range map[string]struct {
		path, header, value string
		good                bool
	}{
		"Gemini by header":          {"/_p/gemini/v1beta/models/m:generateContent", "X-Goog-Api-Key", "k", true},
		"Gemini by query":           {"/_p/gemini/v1beta/models/m:generateContent?key=k", "", "", true},
		"Gemini by token":           {"/_p/gemini/v1beta/models/m:generateContent", "Authorization", "Bearer k", true},
		"Gemini by another's":       {"/_p/gemini/v1beta/models/m:generateContent", "X-Api-Key", "k", false},
		"Azure by header":           {"/_p/azureopenai/openai/v1/chat/completions", "Api-Key", "k", true},
		"Azure by another's":        {"/_p/azureopenai/openai/v1/chat/completions", "X-Api-Key", "k", false},
		"Groq by another's":         {"/_p/groq/openai/v1/chat/completions", "Api-Key", "k", false},
		"Groq by query":             {"/_p/groq/openai/v1/chat/completions?key=k", "", "", false},
		"Mistral by token":          {"/_p/mistral/v1/chat/completions", "Authorization", "bearer k", true},
		"Cohere without":            {"/_p/cohere/v2/chat", "", "", false},
		"a server of one's own":     {"/_p/selfhosted/v1/chat/completions", "", "", true},
		"Bedrock by another's":      {"/_p/bedrock/model/m/converse", "X-Api-Key", "k", false},
		"Bedrock by token":          {"/_p/bedrock/model/m/converse", "Authorization", "Bearer k", true},
		"Bedrock by any signature":  {"/_p/bedrock/model/m/converse", "Authorization", "AWS4-HMAC-SHA256 Credential=k/1/r/s/aws4_request", true},
		"Vertex by header":          {"/_p/vertexai" + vertexGoogle + "generateContent", "X-Goog-Api-Key", "k", true},
		"Azure without its version": {"/_p/azureopenai/openai/deployments/m/chat/completions", "Api-Key", "k", false},
	} {
		t.Run(name, func(t *testing.T) {
			provider := fakeprovider.New(fakeprovider.Options{})
			body := `{"model":"m","contents":[{}],` + strings.TrimPrefix(awsBody, "{")
			r := httptest.NewRequest(http.MethodPost, tc.path, strings.NewReader(body))
			if tc.header != "" {
				r.Header.Set(tc.header, tc.value)
			}
			w := httptest.NewRecorder()
			provider.ServeHTTP(w, r)
			a := provider.Arrivals()[0]
			if (w.Code == http.StatusOK) != tc.good {
				t.Errorf("status = %d: %s", w.Code, w.Body)
			}
			if tc.good && a.KeyHash != fakeprovider.KeyHash("k") && a.Dialect != fakeprovider.SelfHosted || strings.Contains(a.Path, "key=") {
				t.Errorf("arrival = %+v", a)
			}
		})
	}
}
