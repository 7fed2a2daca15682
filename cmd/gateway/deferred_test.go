// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// resolveToLoopback has every name lead to 127.0.0.1 in this process, as a resolver may that somebody else controls.
func resolveToLoopback(t *testing.T) {
	t.Helper()
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer func() { _ = far.Close() }()
			for answerName(far) == nil {
			}
		}()
		return near, nil
	}}
}

// answerName answers one query, as over TCP.
func answerName(conn net.Conn) error {
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return err
	}
	query := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, query); err != nil {
		return err
	}
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	out := query[:end+5] // the head, the name, its type and class
	copy(out[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if isA := out[end+2] == 1; isA {
		out[7] = 1
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...))
	return err
}

const deferringPolicy = `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: anthropic
    baseURL: %s
    credentialKey: anthropic
    limits: [{name: requests, budget: Requests, amount: 1200, per: Minute, burst: 1}]
    deadline: {default: 1s, onExceeded: Defer}
    deferred: {callbackHosts: [app.example.com]}
`

// deferring starts the command on a policy that defers, before a simulated provider.
func deferring(t *testing.T, more ...string) *process {
	t.Helper()
	provider := httptest.NewTLSServer(fakeprovider.New(fakeprovider.Options{}))
	t.Cleanup(provider.Close)
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys")
	if err := os.Mkdir(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(keys, "anthropic"), "sk-of-the-gateway")
	write(t, filepath.Join(keys, "anthropic.hosts"), "127.0.0.1")
	ca := write(t, filepath.Join(dir, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: provider.Certificate().Raw})))
	file := write(t, filepath.Join(dir, "policy.yaml"), fmt.Sprintf(deferringPolicy, provider.URL))
	return start(t, append([]string{"--policy", file, "--namespace", "team-support", "--ca-file", ca, "--credentials", keys}, more...)...)
}

// call makes a call that has no time to wait until it is deferred.
func (p *process) call(headers ...string) *http.Response {
	p.t.Helper()
	var resp *http.Response
	p.until("a call is deferred", func() bool {
		body := strings.NewReader(`{"model":"claude-sonnet-4-5","max_tokens":16,"messages":[{"role":"user","content":"hi"}]}`)
		req, err := http.NewRequest(http.MethodPost, "http://"+p.data+"/anthropic/v1/messages", body)
		if err != nil {
			p.t.Fatal(err)
		}
		req.Header.Set("Headgate-Deadline", "0s")
		for i := 0; i+1 < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		if resp, err = http.DefaultClient.Do(req); err != nil {
			p.t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusAccepted
	})
	return resp
}

// TestACallbackIntoThePodIsNotDialled: whatever a listed name leads to, nothing of the pod's own is called; the answer
// waits to be fetched.
func TestACallbackIntoThePodIsNotDialled(t *testing.T) {
	resolveToLoopback(t)
	var called atomic.Bool
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	receiver.Config.ConnState = func(net.Conn, http.ConnState) { called.Store(true) }
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	port := receiver.URL[strings.LastIndex(receiver.URL, ":"):]
	p := deferring(t, "--state", t.TempDir())
	at := p.call("Headgate-Callback", "https://app.example.com"+port+"/done?token=sesame").Header.Get("Location")
	p.until("a delivery is tried", func() bool { return strings.Contains(p.log.String(), "not delivered") })
	if log := p.log.String(); !strings.Contains(log, "leads to an address that answers are not delivered to: 127.0.0.1") || strings.Contains(log, "sesame") {
		t.Errorf("the log does not say why, or says too much: %s", log)
	}
	if called.Load() {
		t.Error("the receiver on the pod's own address was called")
	}
	if status, _ := p.get(p.data, at); status != http.StatusOK {
		t.Errorf("the answer: %d", status)
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("after SIGTERM it ends with %d", code)
	}
}
