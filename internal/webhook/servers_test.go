// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
)

// balancer is the Service in front of the replicas: it forwards each connection to the next one, or
// behaves as a network does when they are gone.
type balancer struct {
	listener net.Listener

	mu       sync.Mutex
	backends []string
	next     int
	mode     mode
	held     []net.Conn
}

type mode int

const (
	forward mode = iota
	refuse       // the connection is closed at once
	hang         // the connection is taken and nothing ever comes back
)

func newBalancer() (*balancer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &balancer{listener: listener}
	go b.serve()
	return b, nil
}

func (b *balancer) address() string { return b.listener.Addr().String() }

func (b *balancer) add(backend string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.backends = append(b.backends, backend)
}

// set changes the mode and lets go of what was held.
func (b *balancer) set(m mode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mode = m
	for _, c := range b.held {
		_ = c.Close()
	}
	b.held = nil
}

// asked is how many connections are held.
func (b *balancer) asked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.held)
}

func (b *balancer) serve() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		go b.handle(conn)
	}
}

func (b *balancer) handle(conn net.Conn) {
	b.mu.Lock()
	m := b.mode
	if m == hang {
		b.held = append(b.held, conn)
	}
	var backend string
	if len(b.backends) > 0 {
		backend = b.backends[b.next%len(b.backends)]
		b.next++
	}
	b.mu.Unlock()
	if m == hang {
		return
	}
	defer conn.Close()
	if m == refuse || backend == "" {
		return
	}
	up, err := net.Dial("tcp", backend)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(up, conn)
		_ = up.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, up)
	_ = up.Close()
}

// recorder remembers the admission requests that reached a replica.
type recorder struct {
	mu   sync.Mutex
	seen []admissionv1.AdmissionRequest
}

func (r *recorder) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var review admissionv1.AdmissionReview
		if json.Unmarshal(body, &review) == nil && review.Request != nil {
			r.mu.Lock()
			r.seen = append(r.seen, *review.Request)
			r.mu.Unlock()
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(watched{w}, req)
	})
}

// watched is an answer in which no key may stand.
type watched struct{ http.ResponseWriter }

func (w watched) Write(p []byte) (int, error) {
	shown.Look("an answer to the API server", string(p))
	return w.ResponseWriter.Write(p)
}

// in returns the requests about a namespace so far.
func (r *recorder) in(namespace string) []admissionv1.AdmissionRequest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.seen), func(q admissionv1.AdmissionRequest) bool { return q.Namespace != namespace })
}

// errorLog gathers what the replicas' servers complain about: failed handshakes, mostly.
type errorLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *errorLog) Write(p []byte) (int, error) {
	shown.Look("the servers' log", string(p))
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *errorLog) logger() *log.Logger { return log.New(l, "", 0) }

func (l *errorLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
