// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// shown is what managers say, serve and write, in which no key, token or private key may stand.
var (
	shown  canary.Watch
	said   = shown.Log("the managers' log")
	served = shown.Log("the managers' pages")
	stored = shown.Log("the API")
)

func TestMain(m *testing.M) { os.Exit(shown.Run(m)) }

// browse has the pages of a replica searched, those that must not be there as well. One that has ended serves none.
func (r *replica) browse() {
	for _, at := range []string{r.metrics, r.health} {
		for _, page := range []string{"/metrics", "/healthz?verbose", "/readyz?verbose", "/", "/debug/pprof/", "/debug/pprof/heap", "/debug/vars"} {
			resp, err := http.Get("http://" + at + page)
			if err != nil {
				continue
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			fmt.Fprintln(served, page, resp.Status, resp.Header, string(text))
		}
	}
}

// controlPlane starts one whose objects are searched when the test ends.
func controlPlane(t *testing.T) *controlplane.Env {
	t.Helper()
	return controlPlaneOf(t, controlplane.Options{})
}

func controlPlaneOf(t *testing.T, options controlplane.Options) *controlplane.Env {
	t.Helper()
	env := controlplane.Start(t, options)
	t.Cleanup(func() {
		text, err := env.Written(context.Background())
		if err != nil {
			t.Errorf("read what was written: %v", err)
		}
		fmt.Fprint(stored, text)
	})
	return env
}
