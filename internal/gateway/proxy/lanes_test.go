// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/headgate-dev/headgate/internal/plan"
	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// fiveLanes is a route with a lane of each kind of rule.
func fiveLanes(limits ...plan.Limit) plan.Route {
	r := openaiRoute(limits...)
	lane := func(l plan.Lane) plan.Lane {
		l.SharePermille, l.MaxDepth, l.MaxWaitMillis = 100, 100, 50_000
		return l
	}
	r.Lanes = []plan.Lane{
		lane(plan.Lane{Name: "batch", Header: &plan.Header{Name: "x-team-class", Value: "batch"}, MinInputTokens: 50}),
		lane(plan.Lane{Name: "vectors", Paths: []string{"/v1/embeddings", "/v1/files/*/content"}}),
		lane(plan.Lane{Name: "large", Models: []string{"gpt-5*", "o*-pro"}}),
		lane(plan.Lane{Name: "bulk", MinInputTokens: 1000}),
		lane(plan.Lane{Name: plan.DefaultLane}),
	}
	return r
}

// chatOf is a chat call of a model with about so many tokens.
func chatOf(model string, tokens int) string {
	return `{"model":"` + model + `","max_tokens":4,"messages":[{"role":"user","content":"` + marked(strings.Repeat("a ", tokens)) + `"}]}`
}

func TestFirstLaneWhoseRuleHoldsTakesTheCall(t *testing.T) {
	const chat, vectors = "/openai/v1/chat/completions", "/openai/v1/embeddings"
	for name, tc := range map[string]struct {
		path, body string
		headers    []string
		want       string
	}{
		"nothing":                          {chat, chatOf("gpt-4o", 10), nil, "default"},
		"a header, and large enough":       {chat, chatOf("gpt-4o", 100), []string{"X-Team-Class", "batch"}, "batch"},
		"a header, and too small":          {chat, chatOf("gpt-4o", 5), []string{"X-Team-Class", "batch"}, "default"},
		"another value":                    {chat, chatOf("gpt-4o", 100), []string{"X-Team-Class", "Batch"}, "default"},
		"a path":                           {vectors, chatOf("m", 10), nil, "vectors"},
		"a path and a header":              {vectors, chatOf("m", 100), []string{"X-Team-Class", "batch"}, "batch"},
		"a path without its version":       {"/openai/embeddings", chatOf("m", 10), nil, "vectors"},
		"a path with slashes":              {"//openai///v1//embeddings/", chatOf("m", 10), nil, "vectors"},
		"a path in escapes":                {"/openai/v1/%65mbeddings", chatOf("m", 10), nil, "vectors"},
		"a path with a star":               {"/openai/v1/files/a/content", "{}", nil, "vectors"},
		"a path below":                     {"/openai/v1/embeddings/more", chatOf("m", 10), nil, "default"},
		"a model":                          {chat, chatOf("gpt-5.1", 10), nil, "large"},
		"a model with a star in its glob":  {chat, chatOf("o3-pro", 10), nil, "large"},
		"a model that only begins so":      {chat, chatOf("o3-pro-2", 10), nil, "default"},
		"a model before its size":          {chat, chatOf("gpt-5", 2000), nil, "large"},
		"a size":                           {chat, chatOf("gpt-4o", 2000), nil, "bulk"},
		"headers of ours choose nothing":   {chat, chatOf("gpt-4o", 10), []string{"Headgate-Lane", "batch", "Headgate-Priority", "1000", "X-Headgate-Lane", "large"}, "default"},
		"a header of ours frees from none": {chat, chatOf("gpt-4o", 2000), []string{"Headgate-Lane", "default"}, "bulk"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { chatDone(w) })
			simulate(t, s, onePolicy(fiveLanes(perMinute("tokens", plan.Tokens, 1e9))), func(w *world) {
				if a := w.post(tc.path, tc.body, tc.headers...); a.status != http.StatusOK {
					t.Fatalf("answer %d %s", a.status, a.body)
				}
				for _, l := range w.figures("openai").lanes {
					if counts := l.Counts(); (counts.Offered == 1) != (l.Name == tc.want) || counts.Sent != counts.Offered {
						t.Errorf("lane %s: %d offered, %d sent; want %s", l.Name, counts.Offered, counts.Sent, tc.want)
					}
				}
				w.atRest()
			})
		})
	}
}

func chatDone(w http.ResponseWriter) {
	fail(w, http.StatusOK, `{"object":"chat.completion","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4}}`)
}

// TestRulesMeanWhatThePlanSays: made ready for many calls, they are those that explain and the webhook judge by.
func TestRulesMeanWhatThePlanSays(t *testing.T) {
	word := rapid.StringMatching(`[ab/*]{1,6}`)
	plain := rapid.StringMatching(`/[ab/]{0,6}[ab]`)
	rapid.Check(t, func(t *rapid.T) {
		lane := plan.Lane{
			MinInputTokens: rapid.Int64Range(0, 3).Draw(t, "least"),
			Models:         rapid.SliceOfN(word, 0, 2).Draw(t, "models"),
		}
		for _, path := range rapid.SliceOfN(word, 0, 2).Draw(t, "paths") {
			lane.Paths = append(lane.Paths, "/"+strings.TrimRight(path, "/")+"*")
		}
		if rapid.Bool().Draw(t, "header") {
			lane.Header = &plan.Header{Name: "x-Class", Value: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "value")}
		}
		h := http.Header{}
		for _, v := range rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b"}), 0, 2).Draw(t, "values") {
			h.Add("X-Class", v)
		}
		of := traits{
			input: float64(rapid.Int64Range(0, 3).Draw(t, "input")), model: rapid.StringMatching(`[ab/]{0,6}`).Draw(t, "model"),
			path: plain.Draw(t, "path"), header: h,
		}
		of.spelled = of.path
		rules := lanesOf(&plan.Route{Lanes: []plan.Lane{lane, {Name: plan.DefaultLane}}})
		want := lane.Matches(plan.Facts{InputTokens: int64(of.input), Model: of.model, Path: of.path, Header: h.Values})
		if got := rules.choose(&of) == 0; got != want {
			t.Fatalf("%+v takes %+v: %v, by the plan %v", lane, of, got, want)
		}
	})
}

// manyRules is the most that a policy may ask: eight lanes whose rules look at everything and do not hold.
func manyRules() (lanes, *traits) {
	var r plan.Route
	for range plan.MaxLanes - 1 {
		lane := plan.Lane{MinInputTokens: 1, Header: &plan.Header{Name: "X-Class", Value: "batch"}}
		for range plan.MaxModels {
			lane.Models = append(lane.Models, "claude-*-sonnet-*-x")
			lane.Paths = append(lane.Paths, "/v1/*/content")
		}
		lane.Models[plan.MaxModels-1] = "claude-*"
		r.Lanes = append(r.Lanes, lane)
	}
	r.Lanes = append(r.Lanes, plan.Lane{Name: plan.DefaultLane})
	return lanesOf(&r), &traits{input: 2000, model: "claude-sonnet-4-5", header: http.Header{"X-Class": {"batch"}}}
}

func TestChoosingALaneAllocatesNothing(t *testing.T) {
	rules, of := manyRules()
	d, _ := byName("Anthropic")
	if n := testing.AllocsPerRun(100, func() {
		of.path, of.spelled = pathsOf(d, "/v1/messages")
		if rules.choose(of) != plan.MaxLanes-1 {
			t.Error("a rule holds that does not")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkChooseLane is paid by each call: with the lanes that policies usually have, and with the most and dearest.
func BenchmarkChooseLane(b *testing.B) {
	usual := fiveLanes()
	most, of := manyRules()
	d, _ := byName("Anthropic")
	for name, rules := range map[string]lanes{"usual": lanesOf(&usual), "most": most} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				of.path, of.spelled = pathsOf(d, "/v1/messages")
				rules.choose(of)
			}
		})
	}
}
