// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"log"
	"net/http"
	"time"
)

const (
	// MaxPages connections are many times what probes and scrapes need, and maxPagesHeader what they say.
	MaxPages       = 64
	maxPagesHeader = 16 << 10

	pagesTimeout     = 10 * time.Second
	pagesSlowest     = time.Minute
	pagesIdleTimeout = 5 * time.Minute
)

// Pages is a server of metrics and health. All of a cluster's pods reach it, and what they hold there is the memory of its
// process: who holds most goes first.
func Pages(h http.Handler, errorLog *log.Logger) *http.Server {
	srv := &http.Server{
		Handler: bodiless(h), ReadHeaderTimeout: pagesTimeout, ReadTimeout: pagesTimeout, WriteTimeout: pagesSlowest,
		IdleTimeout: pagesIdleTimeout, MaxHeaderBytes: maxPagesHeader, ErrorLog: errorLog,
	}
	Limit(srv, MaxPages)
	return srv
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// bodiless answers at once what comes with a body, and closes its connection: no page has one, and net/http would wait for it to
// use the connection again.
func bodiless(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			_ = http.NewResponseController(w).SetReadDeadline(past)
		}
		h.ServeHTTP(w, r)
	})
}
