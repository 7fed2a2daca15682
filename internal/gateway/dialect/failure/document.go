// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// maxUnwrap bounds JSON in a string in an array in an error.
const maxUnwrap = 4

// Document is what an error body says. Absent members are "".
type Document struct {
	// Code and Type are the machine codes; DetailCode is a finer one beneath them.
	Code, Type, DetailCode, Param string
	// Status is the name of the code, with those who send one beside it (RESOURCE_EXHAUSTED).
	Status  string
	Message string
	// Wait is what a member of its own gives; valid if Waits.
	Wait  time.Duration
	Waits bool
	// Error is the innermost error object, for members that only one provider has.
	Error gjson.Result
	// Text is the body itself, for the few things that no member names.
	Text []byte
}

// Read reads a body. h says how it is encoded; nil is identity.
func Read(h http.Header, body []byte) Document {
	body = plain(h, body)
	d := Document{Text: body}
	outer := unwrap(gjson.ParseBytes(body))
	if !outer.IsObject() {
		if outer.Type == gjson.String {
			d.Message = outer.Str
		}
		return d
	}
	e, said := innermost(outer)
	d.Error = e
	d.Code, d.Param, d.Status = word(e.Get("code")), word(e.Get("param")), word(e.Get("status"))
	d.Type = firstWord(e.Get("type"), e.Get("error_type"))
	d.DetailCode = word(e.Get("details.error_code"))
	d.Message = firstText(e.Get("message"), e.Get("Message"), e.Get("detail"), e.Get("detail.0.msg"))
	if d.Message == "" {
		d.Message = said
	}
	d.Wait, d.Waits = stated(outer, e, e.Get("metadata"))
	return d
}

// innermost follows error members, and messages that are error documents themselves, which proxies make of the
// errors they pass on. said is an error that is a text.
func innermost(v gjson.Result) (e gjson.Result, said string) {
	for range maxUnwrap {
		inner := unwrap(v.Get("error"))
		if inner.Type == gjson.String {
			return v, inner.Str
		}
		if !inner.IsObject() {
			if inner = unwrap(v.Get("message")); !inner.IsObject() || !inner.Get("error").Exists() {
				break
			}
		}
		v = inner
	}
	return v, ""
}

// unwrap looks into arrays of one error and strings that hold JSON.
func unwrap(v gjson.Result) gjson.Result {
	for range maxUnwrap {
		switch {
		case v.IsArray():
			v = v.Get("0")
		case v.Type == gjson.String && holdsJSON(v.Str):
			v = gjson.Parse(v.Str)
		default:
			return v
		}
	}
	return v
}

func holdsJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	return len(text) > 1 && (text[0] == '{' || text[0] == '[')
}

// word is a code that may be a string or a number.
func word(v gjson.Result) string {
	switch v.Type {
	case gjson.String:
		return v.Str
	case gjson.Number:
		return v.Raw
	default:
		return ""
	}
}

func firstWord(values ...gjson.Result) string {
	for _, v := range values {
		if w := word(v); w != "" {
			return w
		}
	}
	return ""
}

func firstText(values ...gjson.Result) string {
	for _, v := range values {
		if v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}
