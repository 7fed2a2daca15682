// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
)

// guarded has a handler's panic end its own connection and be told where operators look, without what was in hand: net/http
// would write the panic's value, which may quote a call, and only at the debug level.
func guarded(h http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p != http.ErrAbortHandler { //nolint:errorlint,err113 // it is compared as net/http does
				// Of arguments a trace shows addresses and lengths only.
				log.Error("a call panicked", slog.String("panic", unquoted(p)), slog.String("trace", string(debug.Stack())))
			}
			panic(http.ErrAbortHandler)
		}()
		h.ServeHTTP(w, r)
	})
}

// unquoted says what a panic was: the runtime's own words are of types and numbers, all others may quote anything.
func unquoted(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a %T", p)
}
