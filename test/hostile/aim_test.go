// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestRedirectsWithAKeyAreNotFollowed: whatever kind of redirect a provider answers with, nobody else gets the call or
// its key, and the caller is told where it was sent.
func TestRedirectsWithAKeyAreNotFollowed(t *testing.T) {
	t.Parallel()
	thief := newUpstream(nil)
	elsewhere := thief.serve(t)
	redirect := func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusFound
		_, _ = fmt.Sscan(r.Header.Get("X-Status"), &status)
		w.Header().Set("Location", elsewhere+"/v1/messages")
		w.Header().Set("Content-Location", elsewhere)
		w.Header().Set("Refresh", "0; url="+elsewhere)
		w.Header().Set("Alt-Svc", `h2="`+thief.host+`"; ma=3600`)
		w.Header().Set("Connection", "close")
		w.WriteHeader(status)
	}
	h := start(t, redirect, redirect)
	for _, line := range []string{chatLine, "POST /anthropic/v1/messages HTTP/1.1", "GET /openai/v1/models HTTP/1.1", "GET /anthropic/v1/models HTTP/1.1"} {
		for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
			replies, _ := h.send(t, request(line, fmt.Sprintf("X-Status: %d\r\nContent-Length: 2\r\nConnection: close\r\n", status), "{}"))
			if len(replies) != 1 || replies[0].status != status || replies[0].header.Get("Location") != elsewhere+"/v1/messages" {
				t.Errorf("%s: answers %v, want %d", line, replies, status)
			}
		}
	}
	if got := thief.calls(); len(got) != 0 {
		t.Errorf("a redirect was followed: %v", got)
	}
	if n := len(h.openai.calls()) + len(h.anthropic.calls()); n != 32 {
		t.Errorf("the providers got %d calls, not one each", n)
	}
	h.check()
}

// TestAPolicyCannotAimTheKeyElsewhere: whoever may edit the policy, but not the Secret, gets the key sent nowhere but
// to the hosts that the Secret lists, and over TLS.
func TestAPolicyCannotAimTheKeyElsewhere(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	thief := newUpstream(nil)
	port := thief.serve(t)[len("https://127.0.0.1:"):]
	good, err := os.ReadFile(h.Policy)
	if err != nil {
		t.Fatal(err)
	}
	h.wellMeant()
	for i, aimed := range []string{
		"https://localhost:" + port, "https://127.0.0.2:" + port, "http://127.0.0.1:" + port, "https://127.0.0.1.nip.example:" + port,
		"https://127.0.0.1@localhost:" + port, "https://localhost:" + port + "/127.0.0.1", "https://[::1]:" + port, "https://127.1:" + port,
		"https://0x7f000001:" + port, "https://169.254.169.254", "https://[fd00:ec2::254]", "https://metadata.google.internal",
	} {
		// Each edit also names a route of its own, by which it is known to be in force.
		marker := fmt.Sprintf("  - name: edit-%d\n    dialect: OpenAI\n    baseURL: https://127.0.0.1:1\n    limits: [{name: tokens, budget: Tokens, amount: 4G, per: Minute}]\n", i)
		edited := strings.Replace(string(good), "https://"+h.anthropic.host, aimed, 1) + marker
		if err := os.WriteFile(h.Policy, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		refused := len(h.Log.String())
		inForce := false
		h.Eventually("the edit", func() bool {
			_, body := h.Get(h.URL + "/nobody")
			inForce = strings.Contains(body, fmt.Sprintf("/edit-%d,", i))
			return inForce || strings.Contains(h.Log.String()[refused:], "plan refused")
		})
		if !inForce {
			continue // the policy itself was refused, and the last good one stays
		}
		replies, _ := h.send(t, request("POST /anthropic/v1/messages HTTP/1.1", "Content-Length: 2\r\nConnection: close\r\n", "{}"))
		if len(replies) != 1 || replies[0].status != http.StatusServiceUnavailable || strings.Contains(replies[0].body, "c4n4ry") {
			t.Errorf("%s: answers %v", aimed, replies)
		}
	}
	if got := thief.calls(); len(got) != 0 {
		t.Errorf("somebody else got a call: %v", got)
	}
	h.check()
}
