// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

var gatewayBinary string

func TestMain(m *testing.M) { os.Exit(dataplane.Main(m, &gatewayBinary)) }

var (
	appKey = canary.Key("of-the-app")
	ourKey = canary.Key("of-the-gateway")
)

// basePath is below the first provider's URL: a path that climbs would lead out of it.
const basePath = "/tenant-a"

// hostile is a gateway with two routes: /openai passes the app's key on, /anthropic has one of the gateway's.
type hostile struct {
	*dataplane.Gateway
	t                 *testing.T
	openai, anthropic *upstream
}

const policyYAML = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: openai
    baseURL: %s` + basePath + `
    limits: [{name: tokens, budget: Tokens, amount: 4G, per: Minute}]
  - name: anthropic
    baseURL: %s
    credentialKey: anthropic
    limits: [{name: input-tokens, budget: InputTokens, amount: 4G, per: Minute}]
`

// start runs it; nil handlers answer every call well.
func start(t *testing.T, openai, anthropic http.HandlerFunc, args ...string) *hostile {
	t.Helper()
	h := &hostile{t: t, openai: newUpstream(openai), anthropic: newUpstream(anthropic)}
	other := h.anthropic.serve(t)
	h.Gateway = dataplane.Start(t, gatewayBinary, dataplane.Options{
		Handler: h.openai, HTTP1: true, Keys: map[string]string{"anthropic": ourKey}, Args: args,
		Policy: func(url string) string { return fmt.Sprintf(policyYAML, url, other) },
	})
	h.openai.host = strings.TrimPrefix(h.Server.URL, "https://")
	return h
}

// check fails unless each provider was called as its own route allows, and nothing else.
func (h *hostile) check() {
	h.t.Helper()
	for _, s := range h.openai.calls() {
		if s.host != h.openai.host || !strings.HasPrefix(s.uri, basePath+"/") {
			h.t.Errorf("the first provider got host %q, path %q", s.host, s.uri)
		}
		if strings.Contains(s.head, ourKey) {
			h.t.Errorf("the first provider got the other's key: %s", s.head)
		}
	}
	for _, s := range h.anthropic.calls() {
		if s.host != h.anthropic.host {
			h.t.Errorf("the second provider got host %q", s.host)
		}
		if s.header.Get("X-Api-Key") != ourKey || strings.Contains(s.head, appKey) {
			h.t.Errorf("the second provider got another key than its route's: %s", s.head)
		}
	}
	for _, u := range []*upstream{h.openai, h.anthropic} {
		for _, s := range u.calls() {
			s.wellFormed(h.t)
		}
	}
}
