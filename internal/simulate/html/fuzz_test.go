// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package html_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	page "github.com/headgate-dev/headgate/internal/simulate/html"
	"github.com/headgate-dev/headgate/internal/simulate/result"
)

// renamed is the sample with one name everywhere, and one figure.
func renamed(name string, figure float64) *result.Result {
	r := sample()
	r.Policy, r.Workload = name, name
	r.Streams[name] = r.Streams["chat"]
	r.Streams[name].Tenant, r.Streams[name].Lane, r.Streams[name].Wait.Max = name, name, figure
	r.Streams[name].Declined = map[string]int{name: 3}
	r.Streams[name].Waits = append(r.Streams[name].Waits, result.Bin{UpTo: figure, Count: 1})
	r.Provider[name] = r.Provider["anthropic"]
	r.Provider[name].Budgets[name] = &result.Budget{Amount: figure, Burst: figure, WindowSeconds: figure, Used: figure, Utilisation: figure}
	r.Provider[name].Lanes[name] = &result.Lane{Share: figure, LargestSeconds: figure}
	r.Tenants[name] = r.Tenants["a"]
	r.Baselines[name] = r.Baselines["none"]
	r.Expect = append(r.Expect, result.Expectation{What: name, Got: figure})
	for i := range r.Series {
		r.Series[i].Key, r.Series[i].Route, r.Series[i].Ceiling = name, name, figure
		r.Series[i].Points[0] = result.Point{Seconds: figure, Value: figure}
	}
	return r
}

// FuzzNames: no name and no figure makes the page do, load or hide anything.
func FuzzNames(f *testing.F) {
	for _, name := range []string{
		"chat", "", `</style></title></script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "{{.}}", "]]>-->",
		`javascript:alert(1)`, "a\x00b\xff", "\u202egnp.exe", strings.Repeat("x", 10_000), "line\nbreak\ttab", `' style='x:expression(1)`,
	} {
		f.Add(name, 1.5)
	}
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e18} {
		f.Add("chat", v)
	}
	plain, _ := written(f, renamed("plain", 1))
	allowed := tags(f, plain)
	f.Fuzz(func(t *testing.T, name string, figure float64) {
		b, root := written(t, renamed(name, figure))
		if len(b) > page.MaxBytes || !utf8.Valid(b) || bytes.ContainsAny(b, "\x00") {
			t.Fatalf("%d bytes, or no text", len(b))
		}
		elements(root, func(e *html.Node) {
			if !slices.Contains(allowed, e.Data) {
				t.Errorf("the page has a <%s>", e.Data)
			}
			for _, a := range e.Attr {
				harmless(t, e, a)
			}
		})
	})
}

func tags(tb testing.TB, b []byte) []string {
	tb.Helper()
	root, err := html.Parse(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	elements(root, func(e *html.Node) { out = append(out, e.Data) })
	slices.Sort(out)
	return slices.Compact(out)
}

func harmless(t *testing.T, e *html.Node, a html.Attribute) {
	t.Helper()
	switch {
	case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "style", a.Key == "xlink:href":
		t.Errorf("<%s> has %s", e.Data, a.Key)
	case a.Key == "href" && a.Val != "data:,":
		t.Errorf("<%s> leads to %q", e.Data, a.Val)
	case strings.Contains(a.Val, "NaN"), strings.Contains(a.Val, "Inf"):
		if e.Data == "path" || e.Data == "rect" || e.Data == "text" {
			t.Errorf("<%s %s=%.60q>", e.Data, a.Key, a.Val)
		}
	}
}
