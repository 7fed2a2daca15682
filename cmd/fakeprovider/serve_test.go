// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// startServer runs the command until the test ends and returns its addresses, HTTP then HTTPS.
func startServer(t *testing.T, args ...string) (plain, secure string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	pr, pw := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, args, slog.New(slog.NewTextHandler(pw, nil)))
		_ = pw.Close()
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("run: %v", err)
			}
		case <-time.After(3 * time.Minute):
			t.Error("run does not end")
		}
	})
	lines := bufio.NewScanner(pr)
	address := regexp.MustCompile(`address=(\S+) tls=(\w+)`)
	for lines.Scan() {
		m := address.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		if m[2] == "true" {
			go func() { _, _ = io.Copy(io.Discard, pr) }()
			return plain, m[1]
		}
		plain = m[1]
	}
	t.Fatal("it does not listen")
	return "", ""
}

func TestServesHTTPAndHTTPSAndHTTP2(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	plain, secure := startServer(t, "--listen=127.0.0.1:0", "--listen-tls=127.0.0.1:0", "--tls-dir="+dir)
	pem, err := os.ReadFile(filepath.Join(dir, caFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the CA written is none")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files written, want the CA alone", len(files))
	}
	for name, tc := range map[string]struct {
		url   string
		http2 bool
	}{
		"HTTP/1": {"http://" + plain, false}, "HTTP/2 without TLS": {"http://" + plain, true},
		"HTTPS": {"https://" + secure, false}, "HTTP/2": {"https://" + secure, true},
	} {
		t.Run(name, func(t *testing.T) {
			protocols := &http.Protocols{}
			protocols.SetHTTP1(!tc.http2)
			protocols.SetHTTP2(tc.http2)
			protocols.SetUnencryptedHTTP2(tc.http2)
			transport := &http.Transport{
				Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			}
			defer transport.CloseIdleConnections()
			body := strings.NewReader(`{"model":"m","max_tokens":2,"stream":true,"messages":[{"content":"hi"}]}`)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tc.url+"/v1/messages", body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Api-Key", "sk-test")
			res, err := (&http.Client{Transport: transport}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = res.Body.Close() }()
			got, err := io.ReadAll(res.Body)
			if err != nil || !strings.Contains(string(got), "message_stop") || (res.ProtoMajor == 2) != tc.http2 {
				t.Errorf("%s: %q, %v", res.Proto, got, err)
			}
		})
	}
}

func TestFaultsFromAFilePlayFromTheStart(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "faults.json")
	if err := os.WriteFile(script, []byte(`[{"kind":"Overload","count":-1}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, _ := startServer(t, "--listen=127.0.0.1:0", "--listen-tls=127.0.0.1:0", "--tls-dir="+dir, "--faults="+script)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+plain+"/v1/embeddings",
		strings.NewReader(`{"model":"m","input":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-test")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d", res.StatusCode)
	}
}
