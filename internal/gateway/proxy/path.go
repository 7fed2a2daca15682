// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"net/url"
	"strings"

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

// climbs finds dot segments, also encoded ones.
func climbs(escaped string) bool {
	path, err := url.PathUnescape(escaped)
	if err != nil {
		return true
	}
	for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		// Path parameters are cut off by some servers before they look at the segment.
		segment, _, _ = strings.Cut(segment, ";")
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
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
