// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"net/url"
	"testing"

	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// wanted is what a fixture demands; what is absent is not compared.
type wanted struct {
	Operation *wantedOperation     `json:"operation"`
	Path      string               `json:"path"`
	Request   *wantedRequest       `json:"request"`
	Response  *explain.Expectation `json:"response"`
	Usage     *wantedUsage         `json:"usage"`
	Complete  *bool                `json:"complete"`
	Failure   *wantedFailure       `json:"failure"`
	// OutputSoFarAtLeast is the least the meter estimates of an answer that broke off.
	OutputSoFarAtLeast int64 `json:"outputSoFarAtLeast"`
}

type wantedOperation struct {
	Name    *string `json:"name"`
	Format  *string `json:"format"`
	Metered *bool   `json:"metered"`
	Free    *bool   `json:"free"`
	Model   *string `json:"model"`
	Stream  *bool   `json:"stream"`
}

type wantedRequest struct {
	Model           *string `json:"model"`
	Stream          *bool   `json:"stream"`
	TextBytes       *int64  `json:"textBytes"`
	MediaTokens     *int64  `json:"mediaTokens"`
	MaxOutputTokens *int64  `json:"maxOutputTokens"`
	Choices         *int64  `json:"choices"`
	WantsUsage      *bool   `json:"wantsUsage"`
}

// wantedUsage: -1 is unknown.
type wantedUsage struct {
	Input        *int64 `json:"input"`
	Output       *int64 `json:"output"`
	CachedRead   *int64 `json:"cachedRead"`
	CacheWrite   *int64 `json:"cacheWrite"`
	Reasoning    *int64 `json:"reasoning"`
	CacheOutside *bool  `json:"cacheOutside"`
}

type wantedFailure struct {
	Class   *string `json:"class"`
	Code    *string `json:"code"`
	Message *string `json:"message"`
}

func compare[T comparable](t *testing.T, what string, want *T, got T) {
	t.Helper()
	if want != nil && *want != got {
		t.Errorf("%s is %v, want %v", what, got, *want)
	}
}

func (w *wantedOperation) check(t *testing.T, got dialect.Operation) {
	t.Helper()
	if w == nil {
		return
	}
	compare(t, "operation.name", w.Name, got.Name)
	compare(t, "operation.format", w.Format, string(got.Format))
	compare(t, "operation.metered", w.Metered, got.Metered)
	compare(t, "operation.free", w.Free, got.Free)
	compare(t, "operation.model", w.Model, got.Model)
	compare(t, "operation.stream", w.Stream, got.Stream)
}

func (w *wantedRequest) check(t *testing.T, got dialect.Request) {
	t.Helper()
	if w == nil {
		return
	}
	compare(t, "request.model", w.Model, got.Model)
	compare(t, "request.stream", w.Stream, got.Stream)
	compare(t, "request.textBytes", w.TextBytes, got.TextBytes)
	compare(t, "request.mediaTokens", w.MediaTokens, got.MediaTokens)
	compare(t, "request.maxOutputTokens", w.MaxOutputTokens, got.MaxOutputTokens)
	compare(t, "request.choices", w.Choices, got.Choices)
	compare(t, "request.wantsUsage", w.WantsUsage, got.WantsUsage)
}

func (w *wantedUsage) check(t *testing.T, got dialect.Usage) {
	t.Helper()
	if w == nil {
		return
	}
	compare(t, "usage.input", w.Input, got.Input)
	compare(t, "usage.output", w.Output, got.Output)
	compare(t, "usage.cachedRead", w.CachedRead, got.CachedRead)
	compare(t, "usage.cacheWrite", w.CacheWrite, got.CacheWrite)
	compare(t, "usage.reasoning", w.Reasoning, got.Reasoning)
	compare(t, "usage.cacheOutside", w.CacheOutside, got.CacheOutside)
}

func (w *wantedFailure) check(t *testing.T, got dialect.Failure) {
	t.Helper()
	if w == nil {
		return
	}
	compare(t, "failure.class", w.Class, string(got.Class))
	compare(t, "failure.code", w.Code, got.Code)
	compare(t, "failure.message", w.Message, got.Message)
}

// requestOf reads a request as the gateway does: what the path names goes before what the body does.
func (f *fixture) requestOf(t *testing.T) (op dialect.Operation, path string, r dialect.Request) {
	t.Helper()
	u, err := url.ParseRequestURI(f.Request.Start[1])
	if err != nil {
		t.Fatal(err)
	}
	path = u.EscapedPath()
	op = f.d.Operation(f.Request.Start[0], path)
	if op.Metered {
		r = f.d.ReadRequest(op, f.Request.Header.Get("Content-Type"), f.Request.Body)
		r.Stream, r.Model = r.Stream || op.Stream, cmp.Or(op.Model, r.Model)
	}
	return op, f.d.Path(path), r
}

// ops are the operations a response may answer: the request's, else all.
func (f *fixture) ops(t *testing.T) []dialect.Operation {
	t.Helper()
	if f.Request == nil {
		return nil
	}
	op, _, r := f.requestOf(t)
	op.Stream = op.Stream || r.Stream
	return []dialect.Operation{op}
}

func (f *fixture) read(t *testing.T) explain.Reading {
	t.Helper()
	return explain.Read(f.d, explain.Response{
		Status: f.Response.Status(), Header: f.Response.Header, Body: f.Response.Body, Received: received,
	}, f.ops(t)...)
}

// succeeded: the response is a success by its status, whatever its body says.
func (f *fixture) succeeded(t *testing.T) bool {
	t.Helper()
	return f.Response != nil && f.Response.Status()/100 == 2
}

// TestFixtures checks every request and response of every dialect's file.
func TestFixtures(t *testing.T) {
	for name, file := range fixtureFiles(t) {
		for _, f := range file {
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				if f.Request == nil && f.Response == nil {
					t.Fatal("neither request nor response")
				}
				if f.Request != nil {
					f.checkRequest(t)
				}
				if f.Response != nil {
					f.checkResponse(t)
				}
			})
		}
	}
}

func (f *fixture) checkRequest(t *testing.T) {
	t.Helper()
	op, path, r := f.requestOf(t)
	f.want.Operation.check(t, op)
	f.want.Request.check(t, r)
	if f.want.Path != "" {
		compare(t, "path", &f.want.Path, path)
	}
	if op.Metered == op.Free && op.Metered {
		t.Error("an operation is metered and free")
	}
}

func (f *fixture) checkResponse(t *testing.T) {
	t.Helper()
	got := f.read(t)
	if f.want.Response != nil {
		compareExpectations(t, *f.want.Response, got.Expectation())
	}
	f.want.Usage.check(t, got.Usage)
	f.want.Failure.check(t, got.Failure)
	compare(t, "complete", f.want.Complete, got.Complete)
	if got.Output < f.want.OutputSoFarAtLeast {
		t.Errorf("output so far is %d, want at least %d", got.Output, f.want.OutputSoFarAtLeast)
	}
	if got.Failure.Message != "" && len([]rune(got.Failure.Message)) > 256 {
		t.Errorf("a message of %d characters", len([]rune(got.Failure.Message)))
	}
}
