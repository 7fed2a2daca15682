// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"cmp"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

const (
	fewTokens  = 8
	manyTokens = 400
)

// row is one SDK under test.
type row struct {
	sdk
	t *testing.T
	*dataplane.Gateway
	app    *app
	result result
}

func TestA6AndA17AndD16Matrix(t *testing.T) {
	var mu sync.Mutex
	got := map[string]result{}
	t.Run("sdk", func(t *testing.T) {
		for _, s := range all {
			t.Run(cmp.Or(s.npm, s.goApp), func(t *testing.T) {
				t.Parallel()
				r := s.row(t)
				r.play()
				mu.Lock()
				defer mu.Unlock()
				got[s.name] = r.result
			})
		}
	})
	if !t.Failed() {
		compare(t, got)
	}
}

func (s sdk) row(t *testing.T) *row {
	t.Helper()
	g := dataplane.Start(t, binary, dataplane.Options{Policy: policyYAML(s.route())})
	r := &row{sdk: s, t: t, Gateway: g, app: s.start(t, g)}
	r.result = result{SDK: s.name, Version: s.versions(t), Language: "npm", BaseURL: s.documented, Setting: s.setting}
	if s.goApp != "" {
		r.result.Language = "Go"
	}
	if s.variable != "" {
		r.result.BaseURL = "`" + s.variable + "`"
	}
	return r
}

// play runs the cases one after the other: they share an app, as calls do.
func (r *row) play() {
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"a call", r.call},
		{"a stream read to its end", r.stream},
		{"a refusal that the gateway waits out", r.waited},
		{"a refusal that the gateway declines", r.declined},
		{"a refusal that the gateway declines, to the SDK's default settings", r.declinedByDefault},
		{"a refusal of the gateway's own", r.refused},
		{"a retry of the SDK's own", r.retriedByItself},
		{"a stream left in the middle", r.abort},
	} {
		outer := r.t
		outer.Run(c.name, func(t *testing.T) {
			r.t = t
			defer func() { r.t = outer }()
			c.run()
		})
	}
}

// ask lets the app make a call with an API key of its own, so that what the provider and the gateway remember of one
// case is nothing to the next.
func (r *row) ask(t *testing.T, key string, s scenario) outcome {
	t.Helper()
	s.Env = map[string]string{r.key: key}
	if s.Model == "" {
		s.Model = r.model
	}
	if s.MaxTokens == 0 {
		s.MaxTokens = fewTokens
	}
	if r.inCode != nil {
		options := r.inCode(r.URL + "/" + r.route())
		for name, value := range s.Options {
			options[name] = value
		}
		s.Options = options
	}
	return r.app.play(t, s)
}

// sends are what the provider saw of the calls with key.
func (r *row) sends(key string) []fakeprovider.Arrival {
	var out []fakeprovider.Arrival
	for _, a := range r.Provider.Arrivals() {
		if a.KeyHash == fakeprovider.KeyHash(key) {
			out = append(out, a)
		}
	}
	return out
}

func (r *row) call() {
	t := r.t
	const key = "sk-c4n4ryKey-call"
	o := r.ask(t, key, scenario{})
	sends := r.sends(key)
	if o.Error != nil || o.Text == "" || o.OutputTokens != fewTokens || len(sends) != 1 {
		t.Fatalf("outcome %+v, error %+v, sends %+v", o, o.Error, sends)
	}
	if want := strings.ToLower(string(sends[0].Dialect)); want != r.route() || sends[0].Model != r.model {
		t.Errorf("the provider took it for a call of %s to %s", want, sends[0].Model)
	}
	r.metered(t)
	r.result.Call = "yes"
}

// metered fails unless the gateway has metered the output of the call.
func (r *row) metered(t *testing.T) {
	t.Helper()
	r.meters(fewTokens)
}

// meters waits until the gateway has metered so much output: an SDK may have its answer before the end of the call is there.
func (r *row) meters(tokens float64) {
	r.Eventually("the tokens of output", func() bool {
		return r.metric(r.t, "headgate_tokens_total", `kind="output"`, `provider="`+r.route()+`"`) == tokens
	})
}

func (r *row) stream() {
	t := r.t
	const key = "sk-c4n4ryKey-stream"
	o := r.ask(t, key, scenario{Stream: true})
	whole := r.ask(t, key, scenario{})
	sends := r.sends(key)
	if o.Error != nil || o.Text != whole.Text || o.Pieces < 2 || len(sends) != 2 || !sends[0].Stream {
		t.Fatalf("outcome %+v, error %+v, sends %+v; without a stream %q", o, o.Error, sends, whole.Text)
	}
	r.meters(3 * fewTokens)
	r.result.Stream = "yes"
}

func (r *row) waited() {
	t := r.t
	const key = "sk-c4n4ryKey-waited"
	r.Inject(r.throttle(honouredSeconds, 1, key))
	o := r.ask(t, key, scenario{})
	sends := r.sends(key)
	if o.Error != nil || o.Text == "" || len(sends) != 2 || sends[0].Status != http.StatusTooManyRequests {
		t.Fatalf("outcome %+v, error %+v, sends %+v", o, o.Error, sends)
	}
	gap := time.Duration(sends[1].TimeUnixNano - sends[0].AnsweredUnixNano)
	if !r.unguided && gap < honouredSeconds*time.Second || gap > 60*honouredSeconds*time.Second {
		t.Errorf("it was sent again after %s", gap)
	}
	r.once(t, sends)
	r.result.Waited = "success"
}

// once fails if a call came from the app a second time, as far as its headers say.
func (r *row) once(t *testing.T, sends []fakeprovider.Arrival) {
	t.Helper()
	for _, a := range sends {
		if n := a.Headers["x-stainless-retry-count"]; n != "" && n != "0" {
			t.Errorf("the SDK has retried: %s", n)
		}
		if n := a.Headers["amz-sdk-request"]; n != "" && !strings.HasPrefix(n, "attempt=1") {
			t.Errorf("the SDK has retried: %s", n)
		}
	}
}

func (r *row) abort() {
	t := r.t
	const key = "sk-c4n4ryKey-abort"
	r.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultSlow, ChunkMillis: 250, Key: fakeprovider.KeyHash(key)})
	o := r.ask(t, key, scenario{Stream: true, Abort: true, MaxTokens: manyTokens})
	if o.Error != nil || o.AbortedUnixMillis == 0 {
		t.Fatalf("outcome %+v, error %+v", o, o.Error)
	}
	r.Eventually("the end of the call", func() bool { s := r.sends(key); return len(s) == 1 && s[0].EndedUnixNano != 0 })
	seen := r.sends(key)[0]
	after := time.Duration(seen.EndedUnixNano) - time.Duration(o.AbortedUnixMillis*float64(time.Millisecond))
	// A second at most on a machine at rest, and tens of seconds before the provider would have ended.
	if !seen.ClientGone || after > 10*time.Second {
		t.Errorf("the provider saw the end %s after the app had left: %+v", after, seen)
	}
	if seen.OutputTokens >= manyTokens {
		t.Errorf("the provider has produced everything: %+v", seen)
	}
	r.result.Abort = "closed at once"
}
