// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// server is one with the bound, in memory: what is sent goes no further than it is read.
type server struct {
	t      *testing.T
	conns  chan net.Conn
	closed chan struct{}
	secure *tls.Config
	// free ends the calls of /wait and /keep.
	free func()
	ends map[net.Conn]*end
}

// end is the server's end of a connection.
type end struct {
	net.Conn
	from string
	gone chan struct{}
	once sync.Once
}

func (e *end) Close() error {
	e.once.Do(func() { close(e.gone) })
	return e.Conn.Close()
}

func (e *end) RemoteAddr() net.Addr { return address(e.from + ":1234") }

type address string

func (address) Network() string  { return "pipe" }
func (a address) String() string { return string(a) }

// serve starts it, with TLS or without.
func serve(t *testing.T, secure bool) *server {
	t.Helper()
	release := make(chan struct{})
	s := &server{
		t: t, conns: make(chan net.Conn), closed: make(chan struct{}), ends: map[net.Conn]*end{},
		free: sync.OnceFunc(func() { close(release) }),
	}
	quiet := log.New(io.Discard, "", 0)
	srv := &http.Server{ReadHeaderTimeout: time.Minute, ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/keep":
			defer Keep(r.Context())()
			<-release
		case "/wait":
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, "well\n")
	})}
	Limit(srv, most)
	var l net.Listener = s
	if secure {
		l = s.secured()
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		s.free()
		for c := range s.ends {
			_ = c.Close()
		}
		_ = srv.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

func (s *server) secured() net.Listener {
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS()
	known.Close()
	s.secure = &tls.Config{InsecureSkipVerify: true}
	// Tickets would wait for who does not read.
	return tls.NewListener(s, &tls.Config{Certificates: known.TLS.Certificates, MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true})
}

func (s *server) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *server) Close() error   { close(s.closed); return nil }
func (s *server) Addr() net.Addr { return address("x:1") }

// open is a connection on which that much is sent, and all that follows from it is done.
func (s *server) open(from, text string) net.Conn {
	s.t.Helper()
	near, far := net.Pipe()
	e := &end{Conn: far, from: from, gone: make(chan struct{})}
	s.conns <- e
	c := near
	if s.secure != nil {
		t := tls.Client(near, s.secure)
		if err := t.Handshake(); err == nil {
			c = t
		}
	}
	s.ends[c] = e
	if _, err := io.WriteString(c, text); err != nil && text != "" && !s.isCut(c) {
		s.t.Fatal(err)
	}
	synctest.Wait()
	return c
}

func (s *server) isCut(c net.Conn) bool {
	select {
	case <-s.ends[c].gone:
		return true
	default:
		return false
	}
}

// held is how many connections are.
func (s *server) held() (n int) {
	for c := range s.ends {
		if !s.isCut(c) {
			n++
		}
	}
	return n
}

// answered makes a call of its own on a connection.
func (s *server) answered(c net.Conn) error {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	return s.reads(c)
}

// reads takes an answer in.
func (s *server) reads(c net.Conn) error {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	synctest.Wait()
	return errors.Join(err, resp.Body.Close())
}
