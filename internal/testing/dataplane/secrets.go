// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// adminPages are what the admin port serves, and what it must not serve: pages of pprof hold whatever is in memory.
var adminPages = []string{"/metrics", "/healthz", "/readyz", "/", "/debug/pprof/", "/debug/pprof/cmdline", "/debug/vars"}

// shown is where the admin port shows a marked key or prompt. A gateway that has ended serves nothing.
func (g *Gateway) shown() (leaks []string) {
	for _, page := range adminPages {
		resp, err := http.Get(g.Admin + page)
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if at := canary.Any(fmt.Sprint(resp.Header) + string(text)); at != "" {
			leaks = append(leaks, fmt.Sprintf("the page %s shows a key or a prompt: …%s…", page, at))
		}
	}
	return leaks
}

// written is where a marked key or prompt was logged, or a key kept or told to the system. What is deferred is kept
// with its prompt.
func (g *Gateway) written() (leaks []string) {
	if at := canary.Any(g.Log.String()); at != "" {
		leaks = append(leaks, "the log shows a key or a prompt: …"+at+"…")
	}
	if at := canary.Keys(fmt.Sprint(g.Cmd.Args, g.Cmd.Env)); at != "" {
		leaks = append(leaks, "the process was started with a key: "+at)
	}
	if g.State == "" {
		return leaks
	}
	_ = filepath.WalkDir(g.State, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what is gone shows nothing
		}
		content, err := os.ReadFile(path)
		if at := canary.Keys(string(content)); err == nil && at != "" {
			leaks = append(leaks, fmt.Sprintf("%s keeps a key: …%q…", path, at))
		}
		return nil
	})
	return leaks
}

// keptSecrets fails the test if there are leaks.
func (g *Gateway) keptSecrets(leaks []string) {
	for _, leak := range leaks {
		g.T.Error(leak)
	}
}
