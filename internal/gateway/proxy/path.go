// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// problem is an answer of the gateway itself that belongs to no provider.
type problem struct {
	status  int
	code    string
	message string
}

// split finds the route's name and the escaped path below it. The host of a call is always its route's:
// whatever could name another one, or climb out of the route, is refused.
func split(r *http.Request) (name, rest string, bad *problem) {
	if r.Method == http.MethodConnect || r.URL.Host != "" || r.URL.Scheme != "" {
		return "", "", &problem{
			http.StatusForbidden, "headgate_no_open_proxy",
			"headgate: this is not an open proxy; call a route, such as /openai/v1/chat/completions.",
		}
	}
	if strings.EqualFold(r.Method, http.MethodTrace) || strings.EqualFold(r.Method, "TRACK") {
		// Whoever answers that repeats the request, with the key that the gateway put in.
		return "", "", &problem{http.StatusMethodNotAllowed, "headgate_no_trace", "headgate: requests are not sent back."}
	}
	path := strings.TrimLeft(r.URL.EscapedPath(), "/")
	name, rest, _ = strings.Cut(path, "/")
	rest = "/" + rest
	if strings.ContainsAny(rest, ".%\\") && climbs(rest) {
		return "", "", &problem{
			http.StatusBadRequest, "headgate_bad_path", "headgate: the path must not contain dot segments.",
		}
	}
	return name, rest, nil
}

// maxEscapings is how often an escape may be escaped again: whoever reads the path may decode it more than once.
const maxEscapings = 4

// otherSpellings are what some servers read as a dot or a slash: UTF-8 that is longer than it need be, and full-width
// characters.
var otherSpellings = strings.NewReplacer(
	"\xc0\xae", ".", "\xe0\x80\xae", ".", "\xf0\x80\x80\xae", ".", "\xef\xbc\x8e", ".",
	"\xc0\xaf", "/", "\xe0\x80\xaf", "/", "\xf0\x80\x80\xaf", "/", "\xef\xbc\x8f", "/", "\xc1\x9c", "/", "\xef\xbc\xbc", "/",
)

// climbs finds dot segments in every spelling that a server behind the gateway may read as one.
func climbs(escaped string) bool {
	path := escaped
	for range maxEscapings {
		decoded := unescape(path)
		if strings.ContainsFunc(decoded, func(r rune) bool { return r >= utf8.RuneSelf }) {
			decoded = otherSpellings.Replace(decoded)
		}
		if hasDotSegment(decoded) {
			return true
		}
		if decoded == path {
			return false
		}
		path = decoded
	}
	return true // it is escaped beyond all use
}

func hasDotSegment(path string) bool {
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		// Path parameters are cut off by some servers before they look at the segment, and what cannot be seen by others.
		segment, _, _ = strings.Cut(segment, ";")
		segment = strings.TrimFunc(segment, func(r rune) bool { return r <= ' ' || r == 0x7f })
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// unescape decodes the escapes that are some, and leaves all else as it is: an error behind which a path is not looked
// at would be a way through.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				out = append(out, b[0])
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}

// target joins base and the escaped path of a call.
func target(base *url.URL, escaped, query string) (*url.URL, error) {
	full := urlpath.Join(base.EscapedPath(), escaped)
	u := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: full, RawQuery: query}
	if strings.Contains(full, "%") {
		path, err := url.PathUnescape(full)
		if err != nil {
			return nil, err
		}
		u.Path, u.RawPath = path, full
	}
	return u, nil
}
