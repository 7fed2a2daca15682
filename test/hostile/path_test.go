// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"slices"
	"testing"
)

// aim is a request's target, and what the two providers get of it: paths, or nothing.
type aim struct {
	target string
	// status of the answer; 0 is any failure.
	status            int
	openai, anthropic string
}

func aims(own, other string) []aim {
	return []aim{
		{"/openai/v1/models", 200, basePath + "/v1/models", ""},
		{"/anthropic/v1/models", 200, "", "/v1/models"},
		{"//openai//v1///models", 200, basePath + "/v1/models", ""},
		{"///anthropic/v1/models", 200, "", "/v1/models"},
		{"/openai/v1/models?x=/../&url=https://" + other + "/", 200, basePath + "/v1/models?x=/../&url=https://" + other + "/", ""},
		{"/openai/https://" + other + "/v1", 200, basePath + "/v1/https:/" + other + "/v1", ""},
		{"/openai//" + other + "/v1", 200, basePath + "/v1/" + other + "/v1", ""},
		{"/openai/@" + other + "/v1", 200, basePath + "/v1/@" + other + "/v1", ""},
		{"/openai/v1/files/a%2Fb", 200, basePath + "/v1/files/a%2Fb", ""},
		{"/openai/v1/models%0d%0aX-Api-Key:%20x", 200, basePath + "/v1/models%0d%0aX-Api-Key:%20x", ""},
		{"/openai/v1/models%20HTTP/1.1%0d%0a%0d%0a", 200, basePath + "/v1/models%20HTTP/1.1%0d%0a%0d%0a", ""},
		{"/openai/v1/models%00", 200, basePath + "/v1/models%00", ""},
		{"/openai/v1/models#/../x", 0, "", ""},
		{"/openai/v1/...", 200, basePath + "/v1/...", ""},
		{"/openai/..", 400, "", ""},
		{"/openai/.", 400, "", ""},
		{"/openai/../anthropic/v1/models", 400, "", ""},
		{"/openai/v1/../../../anthropic/v1/models", 400, "", ""},
		{"/openai/v1/models/..", 400, "", ""},
		{"/openai/%2e%2e/v1", 400, "", ""},
		{"/openai/.%2E/v1", 400, "", ""},
		{"/openai/v1%2f..%2f..%2fx", 400, "", ""},
		{"/openai/v1/..%2fx", 400, "", ""},
		{"/openai/v1/%2e%2e%5cx", 400, "", ""},
		{"/openai/v1/..\\..\\x", 400, "", ""},
		{"/openai/v1/..;/x", 400, "", ""},
		{"/openai/v1/%2e%2e;a=b/x", 400, "", ""},
		{"/openai/v1/%252e%252e/x", 400, "", ""},
		{"/openai/v1/%25252e%25252e/x", 400, "", ""},
		{"/openai/v1/..%252fx", 400, "", ""},
		{"/openai/v1/..%00/x", 400, "", ""},
		{"/openai/v1/..%09/x", 400, "", ""},
		{"/openai/v1/..%20/x", 400, "", ""},
		{"/openai/v1/%c0%ae%c0%ae/x", 400, "", ""},
		{"/openai/v1/%e0%80%ae%e0%80%ae/x", 400, "", ""},
		{"/openai%2f..%2fanthropic/v1/models", 404, "", ""},
		{"/openai%2fv1/models", 404, "", ""},
		{"/openai\\..\\anthropic/v1", 404, "", ""},
		{"/OPENAI/v1/models", 404, "", ""},
		{"/openai;x/v1/models", 404, "", ""},
		{"/openai%00/v1/models", 404, "", ""},
		{"/openai%20/v1/models", 404, "", ""},
		{"/ope%6eai/v1/models", 404, "", ""},
		{"/../openai/v1/models", 0, "", ""},
		{"/./openai/v1/models", 404, "", ""},
		{"/", 404, "", ""},
		{"/" + other + "/v1/models", 404, "", ""},
		{"http://" + own + "/openai/v1/models", 403, "", ""},
		{"https://" + other + "/v1/models", 403, "", ""},
		{"http://169.254.169.254/latest/meta-data/", 403, "", ""},
		{"ftp://" + other + "/x", 403, "", ""},
		{"file:///etc/passwd", 0, "", ""},
		{"http:openai/v1/models", 0, "", ""},
		{"//" + other + "/v1/models", 404, "", ""},
		{other, 0, "", ""},
		{"*", 0, "", ""},
		{"?x=1", 0, "", ""},
		{"", 0, "", ""},
	}
}

// TestPathsLeadNowhereElse: a call goes to its route's host and below its route's base URL, or nowhere.
func TestPathsLeadNowhereElse(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	for _, tc := range aims(h.URL[len("http://"):], h.anthropic.host) {
		t.Run(tc.target, func(t *testing.T) {
			first, second := len(h.openai.calls()), len(h.anthropic.calls())
			replies, _ := h.send(t, request("GET "+tc.target+" HTTP/1.1", "Connection: close\r\n", ""))
			if len(replies) != 1 || tc.status > 0 && replies[0].status != tc.status || tc.status == 0 && replies[0].status < 400 {
				t.Errorf("answers %v, want %d", replies, tc.status)
			}
			checkPaths(t, h.openai.calls()[first:], tc.openai)
			checkPaths(t, h.anthropic.calls()[second:], tc.anthropic)
		})
	}
	h.check()
}

func checkPaths(t *testing.T, calls []seen, want string) {
	t.Helper()
	var got, wanted []string
	for i := range calls {
		got = append(got, calls[i].uri)
	}
	if want != "" {
		wanted = []string{want}
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("a provider got %q, want %q", got, wanted)
	}
}

// TestMethodsThatAreNoCalls: none of them makes a tunnel or has a request sent back with the gateway's key, and OPTIONS * is
// about the gateway.
func TestMethodsThatAreNoCalls(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	for _, tc := range []struct {
		line   string
		status int
	}{
		{"CONNECT " + h.anthropic.host + " HTTP/1.1", 403},
		{"CONNECT /openai/v1/models HTTP/1.1", 403},
		{"CONNECT 169.254.169.254:80 HTTP/1.1", 403},
		{"OPTIONS * HTTP/1.1", 200},
		{"TRACE /anthropic/v1/models HTTP/1.1", 405},
		{"TRACE /openai/v1/models HTTP/1.1", 405},
		{"TRACK /anthropic/v1/models HTTP/1.1", 405},
		{"trace /anthropic/v1/models HTTP/1.1", 405},
		{"TRACE / HTTP/1.1", 405},
		{"OPTIONS http://" + h.anthropic.host + "/ HTTP/1.1", 403},
		{"PRI * HTTP/1.1", 404},
		{"PRI * HTTP/2.0", 404},
	} {
		replies, _ := h.send(t, request(tc.line, "Connection: close\r\n", ""))
		if len(replies) != 1 || replies[0].status != tc.status {
			t.Errorf("%s: answers %v, want %d", tc.line, replies, tc.status)
		}
	}
	if n := len(h.openai.calls()) + len(h.anthropic.calls()); n != 0 {
		t.Errorf("the providers got %d calls", n)
	}
	h.check()
}

// TestHostsOfCallersMeanNothing: the host that a provider is told is its own, whatever the caller names.
func TestHostsOfCallersMeanNothing(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	for _, headers := range []string{
		"Host: " + h.anthropic.host + "\r\n",
		"Host: evil.example\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n",
		"Host: evil.example:443\r\nX-Host: evil.example\r\nX-Original-URL: /other\r\nX-Rewrite-URL: /other\r\n",
		"Host: 169.254.169.254\r\n",
		"Host: [::1]:80\r\n",
		"Host:\r\n",
	} {
		replies, _ := h.send(t, "GET /openai/v1/models HTTP/1.1\r\nX-Api-Key: "+appKey+"\r\nConnection: close\r\n"+headers+"\r\n")
		if len(replies) != 1 || replies[0].status != 200 {
			t.Errorf("%q: answers %v", headers, replies)
		}
	}
	if n := len(h.openai.calls()); n != 6 {
		t.Errorf("the provider got %d calls", n)
	}
	h.check()
}
