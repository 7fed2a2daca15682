// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

const (
	asksForUsage = `"stream_options":{"include_usage":true},`
	shortStream  = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
)

// TestB12EightLargeBodiesFitTheSidecarsMemory: streams, whose requests are rewritten, half of them of a length
// that nobody stated. What does not fit at once waits or is told to come back; nothing is too large.
//
// Fault B12: A few large bodies at once ended the sidecar by its memory limit, or were refused with the gateway's own
// 413.
// Headgate: Bodies share a fixed memory and take turns, larger ones stream through, all arrive unchanged, and what
// finds no room is told 503 with a Retry-After, never 413.
func TestB12EightLargeBodiesFitTheSidecarsMemory(t *testing.T) {
	body := []byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("abc ", 8<<20-100) + `"}]}`)
	want := sha256.Sum256([]byte("{" + asksForUsage + string(body[1:])))
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := sha256.New()
		if _, err := io.Copy(h, r.Body); err != nil || [32]byte(h.Sum(nil)) != want {
			http.Error(w, "the body changed on its way", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, shortStream)
	}))
	defer provider.Close()
	limits := inject.DefaultResources().Limits
	limit := limits.Memory().Value()
	g := roomy(t, provider.URL, limit)
	var wg sync.WaitGroup
	for i := range 24 {
		if i%8 == 0 {
			wg.Wait()
		}
		wg.Go(func() { g.upload(body, i%2 == 0) })
	}
	wg.Wait()
	if peak := peakMemory(t, g.Cmd.Process.Pid); peak > limit*9/10 {
		t.Errorf("the gateway took %d MiB of %d MiB", peak>>20, limit>>20)
	} else {
		t.Logf("the gateway took %d MiB of %d MiB", peak>>20, limit>>20)
	}
}

// roomy is a gateway with the memory of a sidecar and no limit that matters.
func roomy(t *testing.T, url string, limit int64) *gateway {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	policy := strings.ReplaceAll(policyYAML(url, ""), "400k", "4G")
	policy, _, _ = strings.Cut(policy, "  - name: anthropic")
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	// What the binary sets itself in a container of that size, see cmd/gateway.
	t.Setenv("GOMEMLIMIT", strconv.FormatInt(limit/100*70, 10))
	return &gateway{t: t, Gateway: dataplane.Run(t, binary, "--policy", path, "--spool-mib", strconv.FormatInt(limit/100*40>>20, 10))}
}

func (g *gateway) upload(body []byte, stated bool) {
	var in io.Reader = bytes.NewReader(body)
	if !stated {
		in = io.MultiReader(in)
	}
	resp, err := http.Post(g.URL+"/openai/v1/chat/completions", "application/json", in)
	if err != nil {
		g.t.Error(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	answer, _ := io.ReadAll(resp.Body)
	switch {
	case resp.StatusCode == http.StatusOK && string(answer) == shortStream:
	case resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "":
	default:
		g.t.Errorf("answer %d %s", resp.StatusCode, answer)
	}
}

// peakMemory is the most memory a process had, in bytes, less the pages of its file: under pressure the system takes those
// back and ends nobody for them.
func peakMemory(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	return kibibytes(t, string(status), "VmHWM:") - kibibytes(t, string(status), "RssFile:")
}

func kibibytes(t *testing.T, status, name string) int64 {
	t.Helper()
	_, rest, _ := strings.Cut(status, name)
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib << 10
}
