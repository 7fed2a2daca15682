// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

func TestAppMakesOneCallForItsDriver(t *testing.T) {
	provider, server, _ := startApp(t)
	var got load.Outcome
	if err := load.Post(t.Context(), server.URL+"/call", load.Call{InputTokens: 100}, &got); err != nil {
		t.Fatal(err)
	}
	if !got.OK || got.Millis <= 0 {
		t.Errorf("outcome %+v", got)
	}
	arrivals := provider.Arrivals()
	if len(arrivals) != 1 || arrivals[0].Dialect != fakeprovider.Anthropic || arrivals[0].InputTokens != 100 {
		t.Errorf("arrivals %+v", arrivals)
	}
	if err := load.Post(t.Context(), server.URL+"/call", load.Call{InputTokens: -1}, nil); err == nil {
		t.Error("a call of -1 tokens was accepted")
	}
}

// A Job's exit code says what became of its call.
func TestAppCallExitsByItsOutcome(t *testing.T) {
	provider, _, _ := startApp(t)
	var out, errOut bytes.Buffer
	if code := callOnce(t.Context(), []string{"--openai", "--tokens=50"}, &out, &errOut); code != exitOK {
		t.Fatalf("exit %d: %s%s", code, out.String(), errOut.String())
	}
	if a := provider.Arrivals(); len(a) != 1 || a[0].Dialect != fakeprovider.OpenAI {
		t.Errorf("arrivals %+v", a)
	}
	err := provider.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: http.StatusBadRequest})
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if code := callOnce(t.Context(), nil, &out, &errOut); code != exitFailed {
		t.Errorf("exit %d after a refused call", code)
	}
	var got load.Outcome
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.OK || got.Failure != load.Other || got.Message == "" {
		t.Errorf("printed %q, %v", out.String(), err)
	}
	if code := callOnce(t.Context(), []string{"--surprise"}, &out, &errOut); code != exitUsage {
		t.Errorf("exit %d for an unknown flag", code)
	}
}

// A step of a workflow writes what became of it for the container that waits.
func TestAppStepReportsToTheOneThatWaits(t *testing.T) {
	provider, _, _ := startApp(t)
	file := filepath.Join(t.TempDir(), "exitcode")
	var out, errOut bytes.Buffer
	waited := make(chan int, 1)
	go func() { waited <- callOnce(t.Context(), []string{"--after=" + file}, io.Discard, io.Discard) }()
	if code := callOnce(t.Context(), []string{"--exit-code-to=" + file}, &out, &errOut); code != exitOK {
		t.Fatalf("exit %d: %s%s", code, out.String(), errOut.String())
	}
	if code := <-waited; code != exitOK || len(provider.Arrivals()) != 2 {
		t.Errorf("the one that waits: exit %d, %d calls", code, len(provider.Arrivals()))
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "0" {
		t.Errorf("reported is %q, %v", text, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if code := callOnce(gone, []string{"--after=" + file + "-of-nobody"}, io.Discard, io.Discard); code != exitFailed {
		t.Errorf("exit %d of one that waits in vain", code)
	}
	if code := callOnce(t.Context(), []string{"--exit-code-to=" + t.TempDir()}, io.Discard, io.Discard); code != exitFailed {
		t.Errorf("exit %d where it cannot be written", code)
	}
}
