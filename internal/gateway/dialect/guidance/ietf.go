// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"net/http"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/plan"
)

// IETF reads the RateLimit and RateLimit-Policy fields of the IETF draft. A field that is not a valid
// structured list is ignored as a whole, as the draft demands; so is a member without a string name.
func IETF(h http.Header) (budgets []dialect.BudgetReading, malformed string) {
	lines := h["Ratelimit"]
	if len(lines) == 0 {
		return nil, ""
	}
	members, ok := parseList(strings.Join(lines[:min(len(lines), maxParts)], ","))
	if !ok {
		return nil, "Ratelimit"
	}
	policies, _ := parseList(strings.Join(h["Ratelimit-Policy"], ","))
	for _, m := range members {
		b := dialect.BudgetReading{Budget: plan.Requests, Limit: -1, Remaining: -1, RoundedTo: 1}
		if len(members) > 1 {
			b.Bucket = m.name
		}
		if m.has['r'] {
			b.Remaining = float64(m.value['r'])
		}
		if b.HasReset = m.has['t']; b.HasReset {
			b.Reset = seconds(m.value['t'])
		}
		for _, p := range policies {
			if p.name != m.name {
				continue
			}
			if p.has['q'] {
				b.Limit = float64(p.value['q'])
			}
			if p.has['w'] {
				b.Window = seconds(p.value['w'])
			}
		}
		budgets = append(budgets, b)
	}
	return budgets, ""
}

func seconds(n int64) time.Duration {
	return time.Duration(min(n, int64(Longest/time.Second))) * time.Second
}

// member is one item of the list with those of its integer parameters whose names have one letter.
type member struct {
	name  string
	has   [128]bool
	value [128]int64
}

const (
	maxListBytes  = 2048
	maxMemberName = 64
)

// parseList reads as much of RFC 9651 as the draft uses: a list of strings with parameters.
func parseList(text string) (members []member, ok bool) {
	if len(text) > maxListBytes {
		return nil, false
	}
	p := parser{rest: trim(text)}
	for p.rest != "" {
		if len(members) == maxParts {
			return nil, false
		}
		m, ok := p.member()
		if !ok {
			return nil, false
		}
		members = append(members, m)
		p.rest = strings.TrimLeft(p.rest, " \t")
		if p.rest == "" {
			break
		}
		if !p.take(',') {
			return nil, false
		}
		if p.rest = strings.TrimLeft(p.rest, " \t"); p.rest == "" {
			return nil, false // a list must not end in a comma
		}
	}
	return members, true
}

type parser struct{ rest string }

func (p *parser) take(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parser) member() (m member, ok bool) {
	if m.name, ok = p.quoted(); !ok || len(m.name) > maxMemberName {
		return m, false
	}
	for p.take(';') {
		p.rest = strings.TrimLeft(p.rest, " ")
		if !p.parameter(&m) {
			return m, false
		}
	}
	return m, true
}

func (p *parser) quoted() (string, bool) {
	if !p.take('"') {
		return "", false
	}
	var out strings.Builder
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return out.String(), true
		case c == '\\':
			if p.rest == "" || p.rest[0] != '"' && p.rest[0] != '\\' {
				return "", false
			}
			c, p.rest = p.rest[0], p.rest[1:]
		case c < 0x20 || c > 0x7e:
			return "", false
		}
		out.WriteByte(c)
	}
	return "", false
}

func (p *parser) parameter(m *member) bool {
	n := 0
	for n < len(p.rest) && keyByte(p.rest[n], n == 0) {
		n++
	}
	if n == 0 {
		return false
	}
	key := p.rest[:n]
	p.rest = p.rest[n:]
	if !p.take('=') {
		return true // a bare key is the boolean true
	}
	value, integer, ok := p.value()
	if ok && integer && len(key) == 1 {
		m.has[key[0]], m.value[key[0]] = true, value
	}
	return ok && (integer || !numeric(key))
}

// numeric are the parameters the draft defines as integers.
func numeric(key string) bool { return key == "r" || key == "t" || key == "q" || key == "w" }

func keyByte(c byte, isFirst bool) bool {
	if c >= 'a' && c <= 'z' || c == '*' {
		return true
	}
	return !isFirst && (c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.')
}

// value reads a non-negative integer, or passes a string, a token or a byte sequence.
func (p *parser) value() (value int64, integer, ok bool) {
	if strings.HasPrefix(p.rest, "\"") {
		_, ok = p.quoted()
		return 0, false, ok
	}
	n := strings.IndexAny(p.rest, ";, \t")
	if n < 0 {
		n = len(p.rest)
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	if !digits(text) {
		return 0, false, text != ""
	}
	if len(text) > 15 { // the most digits an integer of RFC 9651 has
		return 0, false, false
	}
	for i := range len(text) {
		value = value*10 + int64(text[i]-'0')
	}
	return value, true, true
}
