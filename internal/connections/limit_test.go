// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package connections

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const most = 4

// server is one with the bound, whose calls of /wait end with release.
type server struct {
	t              *testing.T
	address        string
	waits, release chan struct{}
	dial           func() (net.Conn, error)
}

// serve starts it, with TLS or without.
func serve(t *testing.T, secure bool) *server {
	t.Helper()
	s := &server{t: t, waits: make(chan struct{}), release: make(chan struct{})}
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			s.waits <- struct{}{}
			<-s.release
		}
	})}
	Limit(srv, most)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = l.Addr().String()
	s.dial = func() (net.Conn, error) { return net.Dial("tcp", s.address) }
	if secure {
		l = s.secured(l)
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return s
}

func (s *server) secured(l net.Listener) net.Listener {
	other := httptest.NewTLSServer(nil)
	other.Close()
	s.dial = func() (net.Conn, error) {
		return tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true})
	}
	return tls.NewListener(l, &tls.Config{Certificates: other.TLS.Certificates, MinVersion: tls.VersionTLS13})
}

// open is a connection on which that much is sent.
func (s *server) open(text string) net.Conn {
	s.t.Helper()
	c, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	if text != "" {
		if _, err := io.WriteString(c, text); err != nil {
			s.t.Fatal(err)
		}
	}
	return c
}

// answered makes a call of its own on a connection.
func answered(c net.Conn) error {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return resp.Body.Close()
}

// TestWhoHoldsConnectionsKeepsNobodyOut: many that say nothing, or something and no more, hold as many as there may be; whoever
// asks is answered beside them, again and again.
func TestWhoHoldsConnectionsKeepsNobodyOut(t *testing.T) {
	for name, text := range map[string]string{"silent": "", "slow": "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " ", secure), func(t *testing.T) {
				s := serve(t, secure)
				var held []net.Conn
				for range 10 * most {
					held = append(held, s.open(text))
				}
				for range 3 {
					if err := answered(s.open("")); err != nil {
						t.Errorf("who asks: %v", err)
					}
				}
				for i, c := range held[:9*most] {
					if _, err := c.Read(make([]byte, 1)); err == nil {
						t.Errorf("number %d is answered", i)
					}
				}
			})
		}
	}
}

// TestCallsUnderWayAreNotCut: not by those that come, however many, which go instead.
func TestCallsUnderWayAreNotCut(t *testing.T) {
	s := serve(t, false)
	var calls []net.Conn
	for range most {
		calls = append(calls, s.open("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"))
		<-s.waits
	}
	for range 10 {
		if _, err := s.open("").Read(make([]byte, 1)); err == nil {
			t.Error("one too many was answered")
		}
	}
	close(s.release)
	for _, c := range calls {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("a call under way: %v", err)
		}
		if err := answered(c); err != nil {
			t.Errorf("the next on its connection: %v", err)
		}
	}
}
