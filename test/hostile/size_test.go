// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

const mib = 1 << 20

// fill is an endless text.
type fill struct{}

func (fill) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "a few words "[i%12]
	}
	return len(p), nil
}

// body is a chat of so many bytes, which nobody holds.
func body(bytes int64) io.Reader {
	const head, tail = `{"model":"m","messages":[{"role":"user","content":"` + canary.PromptMark, `"}]}`
	return io.MultiReader(strings.NewReader(head), io.LimitReader(fill{}, bytes-int64(len(head)+len(tail))), strings.NewReader(tail))
}

func (h *hostile) post(path string, in io.Reader, length int64) (int, string, error) {
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.URL+path, in)
	if err != nil {
		return 0, "", err
	}
	req.ContentLength = length
	req.Header.Set("X-Api-Key", appKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if at := canary.Any(fmt.Sprint(resp.Header) + string(text)); at != "" {
		h.t.Errorf("an answer shows a key or a prompt: …%s…", at)
	}
	return resp.StatusCode, string(text), err
}

// TestHundredMebibytesPassOrAreRefusedClearly: with a length or without, to a route or to none, and with little memory.
func TestHundredMebibytesPassOrAreRefusedClearly(t *testing.T) {
	t.Parallel()
	const size = 100 * mib
	sum := sha256.New()
	_, _ = io.Copy(sum, body(size))
	h := start(t, nil, nil, "--spool-mib", "64")
	before := h.Resident()
	for _, length := range []int64{size, -1} {
		if status, text, err := h.post("/openai/v1/chat/completions", body(size), length); status != http.StatusOK || err != nil {
			t.Errorf("%d bytes declared: answer %d %s, %v", length, status, text, err)
		}
	}
	calls := h.openai.calls()
	if len(calls) != 2 {
		t.Fatalf("the provider got %d calls", len(calls))
	}
	for _, s := range calls {
		if s.length != size || !bytes.Equal(s.sum[:], sum.Sum(nil)) {
			t.Errorf("the provider got %d bytes, or others", s.length)
		}
	}
	for _, path := range []string{"/nobody/v1/chat/completions", "/openai/../v1/x%2f"} {
		for _, length := range []int64{size, -1} {
			if status, text, err := h.post(path, body(size), length); status < 400 || err != nil || !strings.Contains(text, "headgate") {
				t.Errorf("%s, %d bytes declared: answer %d %s, %v", path, length, status, text, err)
			}
		}
	}
	if grown := h.Resident() - before; grown > 160*mib {
		t.Errorf("the gateway took %d MiB for bodies that it may hold 64 of", grown/mib)
	}
	h.check()
}

// TestLargeBodiesThatNobodyWantsAreReadOn: most clients look for an answer when they have sent all, and a connection
// that is closed before takes the answer away.
func TestLargeBodiesThatNobodyWantsAreReadOn(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil, "--spool-mib", "1")
	for line, status := range map[string]int{
		"POST /nobody/v1/chat/completions HTTP/1.1":                             404,
		"POST /openai/../anthropic/v1/messages HTTP/1.1":                        400,
		"POST http://evil.example/v1/chat/completions HTTP/1.1":                 403,
		"POST /openai/v1/chat/completions HTTP/1.1\r\nX-Size: above the memory": 503,
	} {
		const size = 16 * mib
		conn := h.dial()
		if _, err := io.WriteString(conn, request(line, fmt.Sprintf("Content-Length: %d\r\n", size), "")); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(conn, body(size)); err != nil {
			t.Errorf("%s: after %d bytes: %v", line, n, err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s: answer %d, want %d", line, resp.StatusCode, status)
		}
	}
	h.check()
}

// TestTenThousandModelsAreBounded: in the memory, in the metrics and in what is remembered of each.
func TestTenThousandModelsAreBounded(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	const callers, each = 50, 200
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}}
	defer client.CloseIdleConnections()
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				name := strings.Repeat("m", j) + strconv.Itoa(i*each+j)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL+"/openai/v1/chat/completions", strings.NewReader(`{"model":"`+name+`","messages":[]}`))
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+appKey+name)
				req.Header["Idempotency-Key"] = []string{} // net/http tries again where a connection is closed before it is used
				resp, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					t.Errorf("answer %d", resp.StatusCode)
				}
			}
		})
	}
	wg.Wait()
	if n := len(h.openai.calls()); n != callers*each {
		t.Errorf("the provider got %d calls", n)
	}
	status, page := h.Get(h.Admin + "/metrics")
	if lines := strings.Count(page, "\n"); status != http.StatusOK || lines > 1000 || len(page) > 256<<10 {
		t.Errorf("the metrics have %d lines, %d bytes", lines, len(page))
	}
	if !strings.Contains(page, `model="other"`) {
		t.Error("the models beyond the bound are counted nowhere")
	}
	if mem := h.Resident(); mem > 192*mib {
		t.Errorf("the gateway takes %d MiB", mem/mib)
	}
	h.check()
}

// TestHeaderFloodsAreRefused: what is larger than the gateway takes is told so, and never passed on in part.
func TestHeaderFloodsAreRefused(t *testing.T) {
	t.Parallel()
	h := start(t, nil, nil)
	many := func(n, size int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "X-Flood-%d: %s\r\n", i, strings.Repeat("x", size))
		}
		return b.String()
	}
	for name, tc := range map[string]struct {
		line, headers string
		status        int
	}{
		"one long value":       {"GET /openai/v1/a HTTP/1.1", "X-Flood: " + strings.Repeat("x", 400<<10) + "\r\n", 431},
		"a value without end":  {"GET /openai/v1/a HTTP/1.1", "X-Flood: " + strings.Repeat("x", 4*mib), 431},
		"a name without end":   {"GET /openai/v1/a HTTP/1.1", strings.Repeat("x", 4*mib), 431},
		"many":                 {"GET /openai/v1/a HTTP/1.1", many(20_000, 20), 431},
		"many empty":           {"GET /openai/v1/a HTTP/1.1", many(40_000, 0), 431},
		"one name a lot":       {"GET /openai/v1/a HTTP/1.1", strings.Repeat("Cookie: a=b\r\n", 50_000), 431},
		"a path without end":   {"GET /openai/" + strings.Repeat("x", 400<<10) + " HTTP/1.1", "", 431},
		"a query without end":  {"GET /openai/v1?" + strings.Repeat("x=y&", 100<<10) + " HTTP/1.1", "", 431},
		"a method without end": {strings.Repeat("G", 4*mib), "", 431},
		"what fits":            {"GET /openai/v1/a HTTP/1.1", many(1000, 100), 200},
		"a path that fits":     {"GET /openai/" + strings.Repeat("a/", 50<<10) + " HTTP/1.1", "", 200},
		"a climb that is long": {"GET /openai/" + "%" + strings.Repeat("25", 60<<10) + "2e/ HTTP/1.1", "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			replies, _ := h.send(t, request(tc.line, tc.headers+"Connection: close\r\n", ""))
			if len(replies) != 1 || replies[0].status != tc.status {
				t.Errorf("answers %v, want %d", statusesOf(replies), tc.status)
			}
		})
	}
	if n := len(h.openai.calls()); n != 2 {
		t.Errorf("the provider got %d calls, want the two that fit", n)
	}
	h.check()
}
