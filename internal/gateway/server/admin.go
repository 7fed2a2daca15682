// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"time"
)

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// bodiless answers at once what comes with a body, and closes its connection: nothing of the admin port has one, and net/http would
// wait for it to use the connection again.
func bodiless(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			_ = http.NewResponseController(w).SetReadDeadline(past)
		}
		h.ServeHTTP(w, r)
	})
}
