// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// gathering answers no call that has the header gathers before so many of them are there: how long the machine takes until
// they are is nothing to the test.
type gathering struct {
	*fakeprovider.Server
	calls int64
	here  atomic.Int64
	// then is done when all are there, before any is answered.
	then func(*fakeprovider.Server)
	all  chan struct{}
}

const gathers = "X-Gathers"

// gather is one for so many calls, of which then is told when all are there.
func gather(calls int64, then func(*fakeprovider.Server)) *gathering {
	g := &gathering{Server: fakeprovider.New(fakeprovider.Options{}), calls: calls, all: make(chan struct{})}
	g.then = then
	return g
}

// ServeHTTP implements http.Handler.
func (g *gathering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(gathers) != "" {
		if g.here.Add(1) == g.calls {
			g.then(g.Server)
			close(g.all)
		}
		select {
		case <-g.all:
		case <-r.Context().Done():
		}
	}
	g.Server.ServeHTTP(w, r)
}

// start runs the gateway in front of it.
func (g *gathering) start(t *testing.T, policy func(url string) string, args ...string) *gateway {
	t.Helper()
	out := &gateway{t: t, Gateway: dataplane.Start(t, binary, dataplane.Options{
		Handler: g, Policy: policy, Args: args, Keys: map[string]string{"anthropic": "sk-ant-c4n4ryKey-of-the-gateway-c4n4ryKey"},
	})}
	out.Provider = g.Server
	return out
}
