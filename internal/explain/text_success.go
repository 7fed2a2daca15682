// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

func (p *page) success(d dialect.Dialect, r Reading) {
	p.section("Usage")
	if r.Usage == dialect.Unknown() {
		p.line("  none is reported: a gateway settles the call by its estimate, and counts that it did")
	} else {
		p.usage(r.Usage)
		p.line("  %s", chargeText(d.Facts(), r.Usage))
	}
	if !r.Complete {
		p.line("  the response does not come to its own end: cut off, or only its beginning was pasted")
	}
	if !r.Complete && r.Usage.Output < 0 && r.Output > 0 {
		p.line("  about %s output tokens are in it", number(float64(r.Output)))
	}
}

func (p *page) usage(u dialect.Usage) {
	where := "inside input"
	if u.CacheOutside {
		where = "beside input"
	}
	rows := [][]string{}
	add := func(name string, v int64, note string) {
		if v >= 0 {
			rows = append(rows, []string{name, amount(float64(v)), note})
		}
	}
	add("input tokens", u.Input, "")
	add("read from a cache", u.CachedRead, where)
	add("written to a cache", u.CacheWrite, where)
	add("output tokens", u.Output, "")
	add("reasoning", u.Reasoning, "inside output")
	p.table(rows)
}

// chargeText says what input limits are charged.
func chargeText(f facts.Facts, u dialect.Usage) string {
	charged := u.ChargedInput(f.CachedInputFree)
	if charged < 0 {
		return "input is not reported: limits are charged the estimate"
	}
	cached := "cached reads count too"
	if f.CachedInputFree {
		cached = "cached reads are free"
	}
	return "limits of input are charged " + amount(float64(charged)) + " with " + f.Name + ": " + cached
}
