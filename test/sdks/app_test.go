// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// scenario is what an app is to do. npm/runner.mjs reads the same.
type scenario struct {
	// Env is added to the app's environment before its client is made.
	Env       map[string]string `json:"env"`
	Model     string            `json:"model"`
	MaxTokens int               `json:"maxTokens"`
	Stream    bool              `json:"stream,omitempty"`
	// Abort leaves a stream after its first text.
	Abort bool `json:"abort,omitempty"`
	// Options are those of the SDK's client; none are its defaults.
	Options map[string]any `json:"options,omitempty"`
	// GiveUpMillis is when the app loses patience.
	GiveUpMillis int `json:"giveUpMillis,omitempty"`
}

// outcome is what came of it, as the app saw it.
type outcome struct {
	Text         string `json:"text"`
	Pieces       int    `json:"pieces"`
	OutputTokens int    `json:"outputTokens"`
	// AbortedUnixMillis is when the app left the stream.
	AbortedUnixMillis float64  `json:"abortedUnixMillis"`
	TookMillis        float64  `json:"tookMillis"`
	Error             *failure `json:"error"`
}

// failure is the SDK's own error.
type failure struct {
	Type    string `json:"type"`
	Status  int    `json:"status"`
	Message string `json:"message"`
	// WaitSeconds is nil where the SDK's error for rate limits was not raised, or no wait can be read from it.
	WaitSeconds *float64 `json:"waitSeconds"`
	// Abandoned says that the app lost its patience.
	Abandoned bool `json:"abandoned"`
}

// app is a process that uses one SDK.
type app struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr *dataplane.Log
}

const (
	maxOutcome = 1 << 20
	// playWithin bounds a scenario; the longest takes a twelfth of it.
	playWithin = 4 * time.Minute
)

func startApp(t *testing.T, cmd *exec.Cmd) *app {
	t.Helper()
	a := &app{t: t, stderr: &dataplane.Log{}}
	cmd.Stderr = a.stderr
	var err error
	if a.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.out = bufio.NewScanner(out)
	a.out.Buffer(nil, maxOutcome)
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", cmd.Path, err)
	}
	t.Cleanup(func() {
		_ = a.in.Close()
		timer := time.AfterFunc(playWithin, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the app ended with %v: %s", err, a.stderr)
		}
	})
	return a
}

// play lets the app do it and returns what came of it.
func (a *app) play(t *testing.T, s scenario) outcome {
	t.Helper()
	line, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.in.Write(append(line, '\n')); err != nil {
		t.Fatalf("the app is gone: %v: %s", err, a.stderr)
	}
	answered := make(chan bool, 1)
	go func() { answered <- a.out.Scan() }()
	select {
	case ok := <-answered:
		if !ok {
			t.Fatalf("the app gave no answer: %v: %s", a.out.Err(), a.stderr)
		}
	case <-time.After(playWithin):
		t.Fatalf("the app gave no answer in %s: %s", playWithin, a.stderr)
	}
	var o outcome
	if err := json.Unmarshal(a.out.Bytes(), &o); err != nil {
		t.Fatalf("the app said %q: %v", a.out.Text(), err)
	}
	return o
}
