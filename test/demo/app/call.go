// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// callSubcommand makes one call and ends, as a Job or an init container does.
const callSubcommand = "call"

// maxMessage bounds what is repeated of an SDK's error.
const maxMessage = 500

// Exit codes of the subcommand.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// callOnce makes the call that args ask for, prints its outcome, and returns the exit code.
func callOnce(ctx context.Context, args []string, out, errOut io.Writer) (code int) {
	fs := flag.NewFlagSet(callSubcommand, flag.ContinueOnError)
	fs.SetOutput(errOut)
	var c load.Call
	fs.Int64Var(&c.InputTokens, "tokens", 0, "input tokens; 2000 if absent")
	fs.BoolVar(&c.OpenAI, "openai", false, "through the OpenAI SDK instead of Anthropic's")
	fs.BoolVar(&c.Stream, "stream", false, "streamed")
	after := fs.String("after", "", "wait for this file first")
	report := fs.String("exit-code-to", "", "write the exit code into this file")
	if err := fs.Parse(args); err != nil {
		return exitUsage
	}
	if !appears(ctx, *after) {
		return exitFailed
	}
	if *report != "" {
		defer func() { code = reported(*report, code, errOut) }()
	}
	c = c.Complete()
	if err := c.Validate(); err != nil {
		fmt.Fprintln(errOut, "app:", err)
		return exitUsage
	}
	outcome := newSDKs().outcome(ctx, c)
	if err := json.NewEncoder(out).Encode(outcome); err != nil || !outcome.OK {
		return exitFailed
	}
	return exitOK
}

// outcome makes a call and says what became of it.
func (s *sdks) outcome(ctx context.Context, c load.Call) load.Outcome {
	began := time.Now()
	_, err := s.do(ctx, call{text: prompt(c.InputTokens), output: c.OutputTokens, openAI: c.OpenAI, stream: c.Stream})
	out := load.Outcome{OK: err == nil, Millis: millis(time.Since(began))}
	if err != nil {
		out.Failure, out.Message = kindOf(err), clipped(err)
	}
	return out
}

func clipped(err error) string {
	message := err.Error()
	return message[:min(len(message), maxMessage)]
}

// serveCall makes one call while its driver waits.
func (a *app) serveCall(w http.ResponseWriter, r *http.Request) {
	var c load.Call
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := errors.Join(d.Decode(&c), c.Validate()); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(a.sdks.outcome(r.Context(), c.Complete())); err != nil {
		return // the driver has left
	}
}
