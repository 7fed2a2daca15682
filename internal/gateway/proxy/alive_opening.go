// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// course is what becomes of an answer behind pings.
type course uint8

const (
	goesOn course = iota // in the same response
	opens                // its first bytes have not told yet
	isHeld               // it becomes an event
)

const eventStream = "text/event-stream"

// courseOf is what the head of an answer says of it. Its media type alone says little: servers and proxies put documents in the
// place of streams, and send streams without a type, or as text.
func courseOf(status int, h http.Header) (c course, typed bool) {
	if status < http.StatusOK || status >= http.StatusMultipleChoices || encoding(h) != "" {
		return isHeld, false
	}
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return opens, strings.EqualFold(strings.TrimSpace(media), eventStream)
}

var byteOrderMark = []byte("\ufeff")

// streamFields are what lines of an event stream begin with.
var streamFields = [...]string{":", "data:", "event:", "id:", "retry:"}

// courseBy is what the first bytes of an answer say of it. What is said to be an event stream may begin with any field; anything
// else is one only if it begins with a field that readers know.
func courseBy(p []byte, typed bool) course {
	p = bytes.TrimLeft(p, " \t\r\n")
	if len(p) == 0 {
		return opens
	}
	if first := p[0] | 0x20; typed && (first >= 'a' && first <= 'z' || p[0] == ':') {
		return goesOn
	}
	for _, field := range streamFields {
		if bytes.HasPrefix(p, []byte(field)) {
			return goesOn
		}
		if !typed && strings.HasPrefix(field, string(p)) {
			return opens
		}
	}
	return isHeld
}

// takes is what of an answer's next piece goes to the client now.
func (a *alive) takes(p []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch a.course {
	case goesOn:
		return p
	case isHeld:
		a.holdLocked(p)
		return nil
	default:
		return a.openLocked(p)
	}
}

// openLocked takes what may tell of the course. Line ends pass at once: some providers keep a stream alive by them. A byte
// order mark never does: behind pings it is none, but would hide the first field.
func (a *alive) openLocked(p []byte) []byte {
	all := slices.Concat(a.body, p)
	if len(all) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, all) {
		a.body = all
		return nil
	}
	all = bytes.TrimPrefix(all, byteOrderMark)
	rest := bytes.TrimLeft(all, "\r\n")
	a.course, a.body = courseBy(rest, a.typed), nil
	if a.course == goesOn {
		return all
	}
	a.holdLocked(rest)
	if len(a.body) == maxFailureBody {
		a.course = isHeld // so many blanks are no stream
	}
	return all[:len(all)-len(rest)]
}

func (a *alive) holdLocked(p []byte) {
	a.body = append(a.body, p[:min(len(p), maxFailureBody-len(a.body))]...)
}
