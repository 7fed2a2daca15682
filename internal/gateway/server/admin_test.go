// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/connections"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
)

const (
	health  = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	metrics = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
)

// strangers are who holds connections to the admin port, by what they send; they read nothing.
var strangers = map[string]string{
	"silence":                 "",
	"half of the headers":     "GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ",
	"a body that is not sent": "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
	"chunks that do not come": "GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
	"an answer not read":      "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
	"another method":          "DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
}

// port is an admin port in memory: what is sent goes no further than it is read.
type port struct {
	*Server
	conns  chan net.Conn
	closed chan struct{}
	close  func()
	// scraped lets the answers of /metrics go.
	scraped func()
}

func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *port) Close() error   { p.close(); return nil }
func (p *port) Addr() net.Addr { return &net.TCPAddr{} }

func adminPort(t *testing.T) *port {
	t.Helper()
	scraped := make(chan struct{})
	p := &port{conns: make(chan net.Conn), closed: make(chan struct{}), scraped: sync.OnceFunc(func() { close(scraped) })}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) {
		<-scraped
		_, _ = io.WriteString(w, "up 1\n")
	})
	p.Server = newServer(Options{Data: http.NotFoundHandler(), Admin: mux, Log: said})
	done := make(chan error, 1)
	go func() { done <- p.admin.Serve(p) }()
	t.Cleanup(func() {
		p.scraped()
		_ = p.admin.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return p
}

// from is the server's end of a connection that comes from an address.
type from struct {
	net.Conn
	ip string
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.ip), Port: 1234} }

// dial is a connection on which that much is sent, and all that follows from it at once is done.
func (p *port) dial(t *testing.T, ip, text string) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = near.Close() })
	p.conns <- from{far, ip}
	if text != "" {
		_, _ = io.WriteString(near, text) // what is cut is not answered
	}
	synctest.Wait()
	return near
}

// read reads an answer.
func read(c net.Conn, text string) error {
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK || string(body) != text {
		return errors.Join(err, errors.New(resp.Status))
	}
	return errors.Join(err, resp.Body.Close())
}

// TestOthersConnectionsCostLittle: any pod reaches the admin port. Hundreds of connections there, whatever is done on them, are not
// kept; a probe is answered beside them, again and again, and a scrape that was under way.
func TestOthersConnectionsCostLittle(t *testing.T) {
	for name, text := range strangers {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				p := adminPort(t)
				scrape := p.dial(t, "10.0.0.2", metrics)
				for range 5 * connections.MaxPages {
					p.dial(t, "10.0.0.1", text)
				}
				for i := range 93 {
					ip := []string{"10.0.0.1", "10.0.0.2"}[i%2]
					c := p.dial(t, ip, health)
					if err := read(c, "ok\n"); err != nil {
						t.Fatalf("probe %d, from %s: %v", i, ip, err)
					}
					_ = c.Close()
					p.dial(t, "10.0.0.1", text)
				}
				p.scraped()
				if err := read(scrape, "up 1\n"); err != nil {
					t.Errorf("the scrape: %v", err)
				}
				// By default it would be a megabyte, of each of them.
				if p.admin.MaxHeaderBytes > 16<<10 {
					t.Errorf("%d bytes of headers are read", p.admin.MaxHeaderBytes)
				}
			})
		})
	}
}

// TestAdminWaitsForNoBody: what is asked with a body is answered at once, and its connection closed, whether the body comes or not.
func TestAdminWaitsForNoBody(t *testing.T) {
	for text, status := range map[string]int{
		"GET /healthz HTTP/1.1\r\nContent-Length: 10\r\n":                          http.StatusOK,
		"GET /healthz HTTP/1.1\r\nContent-Length: 99999999\r\n":                    http.StatusOK,
		"HEAD /healthz HTTP/1.1\r\nContent-Length: 10\r\n":                         http.StatusOK,
		"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n":                  http.StatusOK,
		"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n": http.StatusOK,
		"POST /healthz HTTP/1.1\r\nContent-Length: 10\r\n":                         http.StatusOK,
		"POST /healthz HTTP/1.1\r\nContent-Length: 10\r\nExpect: 100-continue\r\n": http.StatusOK,
		"PUT /nothing HTTP/1.1\r\nContent-Length: 10\r\n":                          http.StatusNotFound,
	} {
		t.Run(strings.ReplaceAll(text, "\r\n", " "), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				p := adminPort(t)
				began := time.Now()
				c := p.dial(t, "10.0.0.1", text+"Host: x\r\n\r\n")
				answer := bufio.NewReader(c)
				resp, err := http.ReadResponse(answer, nil)
				if err != nil || resp.StatusCode != status || !resp.Close || time.Since(began) > 0 {
					t.Fatalf("after %v: %+v, %v", time.Since(began), resp, err)
				}
				_ = resp.Body.Close()
				if _, err := io.Copy(io.Discard, answer); err != nil || time.Since(began) > time.Second {
					t.Errorf("it is closed after %v, %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestAdminAnswersOneAfterAnother: without bodies a connection is used again, whatever was asked.
func TestAdminAnswersOneAfterAnother(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := adminPort(t).dial(t, "10.0.0.1", "")
		answers := bufio.NewReader(c)
		for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodGet} {
			if _, err := io.WriteString(c, method+" /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(answers, nil)
			if err != nil || resp.StatusCode != http.StatusOK || resp.Close {
				t.Fatalf("%s: %+v, %v", method, resp, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	})
}
