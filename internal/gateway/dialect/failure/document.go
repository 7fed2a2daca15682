// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"

	"github.com/tidwall/gjson"
)

const (
	// maxBody is how much of an error body is read; real ones are below 4 KiB.
	maxBody = 64 << 10
	// maxUnwrap bounds JSON in a string in an array in an error.
	maxUnwrap = 4
)

// Document is what an error body says. Absent members are "".
type Document struct {
	// Code and Type are the machine codes; DetailCode is a finer one beneath them.
	Code, Type, DetailCode, Param string
	Message                       string
	// RetryAfter is a member that gives a wait in seconds, raw.
	RetryAfter string
	// Text is the body itself, for the few things that no member names.
	Text []byte
}

// Read reads a body. h says how it is encoded; nil is identity.
func Read(h http.Header, body []byte) Document {
	body = plain(h, body)
	d := Document{Text: body}
	v := unwrap(gjson.ParseBytes(body))
	if !v.IsObject() {
		return d
	}
	e := v
	if inner := unwrap(v.Get("error")); inner.IsObject() {
		e = inner
	} else if inner.Type == gjson.String {
		d.Message = inner.Str
	}
	d.Code, d.Type, d.Param = word(e.Get("code")), word(e.Get("type")), word(e.Get("param"))
	d.DetailCode = word(e.Get("details.error_code"))
	if text := e.Get("message"); text.Type == gjson.String {
		d.Message = text.Str
	}
	for _, wait := range []gjson.Result{v.Get("retry_after"), e.Get("retry_after"), e.Get("metadata.retry_after_seconds")} {
		if wait.Type == gjson.Number {
			d.RetryAfter = wait.Raw
			break
		}
	}
	return d
}

// plain undoes gzip. What cannot be decompressed is no document.
func plain(h http.Header, body []byte) []byte {
	if h.Get("Content-Encoding") != "gzip" && !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		return body[:min(len(body), maxBody)]
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(z, maxBody)) // what was read before an error may still do
	return text
}

// unwrap looks into arrays of one error and strings that hold JSON.
func unwrap(v gjson.Result) gjson.Result {
	for range maxUnwrap {
		switch {
		case v.IsArray():
			v = v.Get("0")
		case v.Type == gjson.String && len(v.Str) > 1 && (v.Str[0] == '{' || v.Str[0] == '['):
			v = gjson.Parse(v.Str)
		default:
			return v
		}
	}
	return v
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
