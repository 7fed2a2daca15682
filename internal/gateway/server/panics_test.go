// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// page is a log for several goroutines.
type page struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (p *page) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// call is what a handler has in hand when it panics.
type call struct {
	key, prompt string
	body        []byte
}

//go:noinline
func (c call) breakDown(how func(c call)) { how(c) }

// TestPanicsAreToldWithoutWhatWasInHand: on both listeners, at the level that operators run, whatever a handler panics with while
// it holds a key and a prompt. The connection ends, and the next call is served.
func TestPanicsAreToldWithoutWhatWasInHand(t *testing.T) {
	type key string
	for name, tc := range map[string]struct {
		how  func(c call)
		says string
	}{
		"an index":      {func(c call) { _ = c.body[len(c.body)+len(c.key)] }, "index out of range"},
		"nothing":       {func(c call) { var p *call; _ = p.body[len(c.key)] }, "nil pointer"},
		"a type":        {func(c call) { var v any = key(c.key); _ = v.(error) }, "interface conversion"},
		"a text":        {func(c call) { panic("cannot read " + c.prompt) }, `"a string"`},
		"an error":      {func(c call) { panic(fmt.Errorf("parse %q", c.key)) }, `"a *errors.errorString`},
		"a wrapped one": {func(c call) { panic(errors.Join(errors.New(c.prompt), io.EOF)) }, `"a *errors.joinError"`},
		"bytes":         {func(c call) { panic(c.body) }, `"a []uint8"`},
		"all of it":     {func(c call) { panic(c) }, `"a server.call"`},
		"an abort":      {func(call) { panic(http.ErrAbortHandler) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			out := &page{}
			log := slog.New(logs.Handler(io.MultiWriter(out, shown.Log("the log of "+name)), slog.LevelDebug))
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/well" {
					return
				}
				body, _ := io.ReadAll(r.Body)
				call{r.Header.Get("Authorization"), string(body), body}.breakDown(tc.how)
			})
			s := newServer(Options{Data: h, Admin: h, Log: log})
			for at, srv := range map[string]*http.Server{"data": s.data, "admin": s.admin} {
				front := httptest.NewUnstartedServer(srv.Handler)
				front.Config.ErrorLog = srv.ErrorLog
				front.Start()
				if _, err := ask(t, front.URL); err == nil {
					t.Errorf("%s: the panic was answered", at)
				}
				if resp, err := http.Get(front.URL + "/well"); err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("%s: the next call: %v", at, err)
				}
				front.Close()
			}
			http.DefaultClient.CloseIdleConnections()
			text := out.String()
			if tc.says == "" {
				if text != "" {
					t.Errorf("an abort is told: %s", text)
				}
				log.Debug("an abort is told to nobody")
				return
			}
			lines := strings.Count(text, `"level":"ERROR","msg":"a call panicked"`)
			if lines != 2 || strings.Count(text, "\n") != 2 || !strings.Contains(text, strings.Trim(tc.says, "`")) || !strings.Contains(text, "breakDown") {
				t.Errorf("%d lines, want two with %s and where it was: %s", lines, tc.says, text)
			}
			if at := canary.Secrets(text); at != "" {
				t.Errorf("it shows what was in hand: …%s…", at)
			}
		})
	}
}

// ask calls with a key and a prompt.
func ask(t *testing.T, url string) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1", strings.NewReader(canary.Prompt("hello")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+canary.Key("of-the-app"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
