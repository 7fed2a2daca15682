// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// TestD3AndD15StartAndProbeNeedNoProvider: beside a mesh whose sidecar is not ready yet nothing can be reached, and neither
// the start nor the probe asks for anything. A provider that cannot be reached is the call's error, and health stays.
func TestD3AndD15StartAndProbeNeedNoProvider(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "plan.json"), mounted(t, 1, "openai"))
	writeFile(t, filepath.Join(dir, "labels"), []byte("app=\"support\"\n"))
	g := &gateway{t: t, Gateway: dataplane.Run(t, binary, "--plan", dir, "--labels", filepath.Join(dir, "labels"), "--state", dir,
		"--namespace", "team-support", "--coordinator", "https://127.0.0.1:1", "--token", filepath.Join(dir, "none"))}
	g.probes()
	if status, body := g.Get(g.URL + "/openai/v1/models"); status != http.StatusBadGateway || !strings.Contains(body, "headgate: ") {
		t.Errorf("a provider that cannot be reached: %d %s", status, body)
	}
	g.probes()
	if status, body := g.Get(g.Admin + "/readyz"); status != http.StatusOK {
		t.Errorf("readiness: %d %s", status, body)
	}
}
