// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferral

import (
	"bytes"
	"maps"
	"net/http"
	"sync"
)

// said keeps what a provider answers, by idempotency key.
type said struct {
	mu      sync.Mutex
	answers map[string]*spoken
}

// spoken is one answer as it left the provider.
type spoken struct {
	status int
	header http.Header
	body   bytes.Buffer
}

// by is h, whose answers are kept.
func (s *said) by(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k := &keeper{ResponseWriter: w}
		h.ServeHTTP(k, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.answers == nil {
			s.answers = map[string]*spoken{}
		}
		s.answers[r.Header.Get("Idempotency-Key")] = &k.spoken
	})
}

// to is the answer to a key, nil for none.
func (s *said) to(key string) *spoken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[key]
}

type keeper struct {
	http.ResponseWriter
	spoken spoken
}

func (k *keeper) WriteHeader(status int) {
	if k.spoken.status == 0 {
		k.spoken.status, k.spoken.header = status, maps.Clone(k.Header())
	}
	k.ResponseWriter.WriteHeader(status)
}

func (k *keeper) Write(p []byte) (int, error) {
	if k.spoken.status == 0 {
		k.spoken.status, k.spoken.header = http.StatusOK, maps.Clone(k.Header())
	}
	k.spoken.body.Write(p)
	return k.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController reach what is below.
func (k *keeper) Unwrap() http.ResponseWriter { return k.ResponseWriter }

func (k *keeper) Flush() { _ = http.NewResponseController(k.ResponseWriter).Flush() }
