// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package providers

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/shapes"
)

// ask sends a call straight to the provider, on the path that the gateway's dialect makes of the SDK's.
func ask(p *fakeprovider.Server, s shapes.Shape, path, body string) *httptest.ResponseRecorder {
	path, query, _ := strings.Cut(path, "?")
	path = s.At(dialectOf(s).Path(path))
	if query != "" {
		path += "?" + query
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer sk-c4n4ryKey-test")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func dialectOf(s shapes.Shape) dialect.Dialect { return registry.ByName(string(s.Dialect)) }

// operation is what the gateway takes a call for.
func operation(s shapes.Shape, path, body string) (dialect.Operation, dialect.Request) {
	path, _, _ = strings.Cut(path, "?")
	d := dialectOf(s)
	op := d.Operation(http.MethodPost, path)
	return op, d.ReadRequest(op, "application/json", []byte(body))
}

// input is what the meter can find: Cohere's count contains its own part of the prompt, which it does not bill, and
// TGI counts the input of streams alone.
func input(s shapes.Shape, stream bool) int64 {
	const cohereTemplate = 7
	switch {
	case s.Name == "Cohere":
		return shapes.Input + cohereTemplate
	case s.Name == "TGI" && !stream:
		return -1
	}
	return shapes.Input
}

// TestC1AndC3TheGatewayMetersWhatTheSimulatorBills: what was billed in an answer, whole or streamed, is what its meter
// finds.
func TestC1AndC3TheGatewayMetersWhatTheSimulatorBills(t *testing.T) {
	for _, s := range shapes.All() {
		for _, stream := range []bool{false, true} {
			name, path, body := s.Name, s.Path, s.Body
			if stream {
				name, path, body = s.Name+" stream", s.StreamPath, s.StreamBody
			}
			t.Run(name, func(t *testing.T) {
				op, read := operation(s, path, body)
				if !op.Metered || op.Free || (op.Stream || read.Stream) != stream {
					t.Fatalf("operation %+v, request %+v", op, read)
				}
				if splice, ok := dialectOf(s).InjectUsage(op, []byte(body)); ok {
					body = string(splice.Apply([]byte(body)))
				}
				w := ask(fakeprovider.New(fakeprovider.Options{}), s, path, body)
				if w.Code != http.StatusOK {
					t.Fatalf("status %d: %s", w.Code, w.Body)
				}
				m := dialectOf(s).NewMeter(op, w.Header(), dialect.MeterOptions{Stream: stream})
				whole := w.Body.String()
				passed := string(m.Write(w.Body.Bytes()))
				if passed += string(m.Close()); passed != whole {
					t.Errorf("%q passed, of %q", passed, whole)
				}
				u := m.Usage()
				if u.Input != input(s, stream) || u.Output != shapes.Output || !m.Complete() {
					t.Errorf("usage %+v, complete %v: %s", u, m.Complete(), whole)
				}
			})
		}
	}
}

// drained is the budget that a test empties: where requests are limited by the day too, not those, since a day that
// is spent is no throttle.
func drained(s shapes.Shape) fakeprovider.Budget {
	if s.Dialect == fakeprovider.Groq || s.Dialect == fakeprovider.Cerebras {
		return fakeprovider.Tokens
	}
	return ""
}

// ownServer is how failures of servers of one's own differ: these refuse only when they are full.
var ownServer = map[string]dialect.Class{
	"Ollama, throttled": dialect.ClassOverload, "TGI, throttled": dialect.ClassOverload,
}

// TestA7TheGatewayClassifiesWhatTheSimulatorRefuses: each kind of failure is of the class it was meant as.
func TestA7TheGatewayClassifiesWhatTheSimulatorRefuses(t *testing.T) {
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for name, tc := range map[string]struct {
					fault   fakeprovider.FaultKind
					percent float64
					body    string
					want    dialect.Class
				}{
					"throttled":   {want: dialect.ClassThrottle, body: s.Body},
					"no money":    {fault: fakeprovider.FaultQuota, percent: 100, want: dialect.ClassQuota, body: s.Body},
					"overloaded":  {fault: fakeprovider.FaultOverload, percent: 100, want: dialect.ClassOverload, body: s.Body},
					"bad request": {percent: 100, want: dialect.ClassPermanent, body: "{}"},
				} {
					p := fakeprovider.New(fakeprovider.Options{})
					p.SetLevel(drained(s), tc.percent)
					if tc.fault != "" {
						if err := p.Inject(fakeprovider.Fault{Kind: tc.fault}); err != nil {
							t.Fatal(err)
						}
					}
					w := ask(p, s, s.Path, tc.body)
					reading := dialectOf(s).ReadHeaders(w.Code, w.Header(), time.Now())
					got := dialectOf(s).ReadFailure(w.Code, w.Header(), w.Body.Bytes(), &reading)
					if own, ok := ownServer[s.Name+", "+name]; ok {
						tc.want = own
					}
					if got.Class != tc.want {
						t.Errorf("%s: %s, want %s: %d %v %s", name, got.Class, tc.want, w.Code, w.Header(), w.Body)
					}
				}
			})
		})
	}
}

// TestA11TheGatewaySeesFailuresInsideStreams: an overload after the status line is seen, and classed as one or as a
// passing failure.
func TestA11TheGatewaySeesFailuresInsideStreams(t *testing.T) {
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			p := fakeprovider.New(fakeprovider.Options{})
			if err := p.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultStreamOverload, AfterContent: 1}); err != nil {
				t.Fatal(err)
			}
			op, _ := operation(s, s.StreamPath, s.StreamBody)
			w := ask(p, s, s.StreamPath, s.StreamBody)
			m := dialectOf(s).NewMeter(op, w.Header(), dialect.MeterOptions{Stream: true})
			m.Write(w.Body.Bytes())
			m.Close()
			failed, ok := m.StreamFailure()
			if !ok || failed.Class != dialect.ClassOverload && failed.Class != dialect.ClassTransient || !m.ContentSeen() {
				t.Errorf("failure %+v, %v, content seen %v: %s", failed, ok, m.ContentSeen(), w.Body)
			}
		})
	}
}

// TestA1AndA10WaitsAreNeverEarly: where a refusal tells the wait, the gateway reads no less than the bucket needs.
func TestA1AndA10WaitsAreNeverEarly(t *testing.T) {
	// These say nothing of time, in any place.
	silent := map[fakeprovider.Dialect]bool{
		fakeprovider.VertexAI: true, fakeprovider.Bedrock: true, fakeprovider.Mistral: true, fakeprovider.Cohere: true,
		fakeprovider.Fireworks: true, fakeprovider.DeepSeek: true, fakeprovider.XAI: true, fakeprovider.Perplexity: true,
		fakeprovider.SelfHosted: true,
	}
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := fakeprovider.New(fakeprovider.Options{Profiles: map[fakeprovider.Dialect]fakeprovider.Profile{
					s.Dialect: {Limits: []fakeprovider.Limit{{Budget: fakeprovider.Requests, Amount: 3.9, Burst: 4, Window: time.Minute}}},
				}})
				p.SetLevel("", 0)
				time.Sleep(123 * time.Millisecond)
				perSecond := 3.9 / 60
				needs := time.Duration((1/perSecond - 0.123) * float64(time.Second))
				w := ask(p, s, s.Path, s.Body)
				reading := dialectOf(s).ReadHeaders(w.Code, w.Header(), time.Now())
				failed := dialectOf(s).ReadFailure(w.Code, w.Header(), w.Body.Bytes(), &reading)
				wait, source, ok := reading.Wait(failed.Class)
				if ok == silent[s.Dialect] || ok && wait < needs {
					t.Errorf("wait %s from %s, %v; the bucket needs %s: %v %s", wait, source, ok, needs, w.Header(), w.Body)
				}
			})
		})
	}
}
