// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/bubble"
)

// door is a webhook server in memory.
type door struct {
	*Server
	conns  chan net.Conn
	closed chan struct{}
}

func (d *door) Accept() (net.Conn, error) {
	select {
	case c := <-d.conns:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

func (d *door) Close() error {
	select {
	case <-d.closed:
	default:
		close(d.closed)
	}
	return nil
}
func (d *door) Addr() net.Addr { return &net.TCPAddr{} }

// from is the address that a connection in memory comes from.
type from struct {
	net.Conn
	host net.IP
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: f.host, Port: 4711} }

// dial connects from an address, as far as TLS if it speaks it.
func (d *door) dial(host string) net.Conn {
	ours, theirs := net.Pipe()
	d.conns <- from{theirs, net.ParseIP(host)}
	return ours
}

func (d *door) speak(ctx context.Context, host string) (*tls.Conn, error) {
	c := tls.Client(d.dial(host), &tls.Config{InsecureSkipVerify: true})
	return c, c.HandshakeContext(ctx)
}

// call makes a call whole, over a connection of its own.
func (d *door) call(ctx context.Context, host, body string) (string, error) {
	c, err := d.speak(ctx, host)
	if err != nil {
		return "", err
	}
	defer c.NetConn().Close() // a goodbye would wait for who has said his
	client := &http.Client{Transport: &http.Transport{
		DialTLSContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }, DisableKeepAlives: true,
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://webhooks"+PodPath, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// open starts one; its handler reads what it is sent.
func open(t *testing.T, ctx context.Context) (*door, <-chan error) {
	t.Helper()
	certificate := selfSigned(t)
	s := NewServer(ServerOptions{
		Certificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate, nil }, Log: slog.New(slog.DiscardHandler),
	})
	s.Register(PodPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "answered")
	}))
	d := &door{Server: s, conns: make(chan net.Conn), closed: make(chan struct{})}
	done := make(chan error, 1)
	go func() { done <- s.serve(ctx, d) }()
	return d, done
}

// ended is after how long a connection is closed by the server, which is counted.
func ended(c net.Conn, n *atomic.Int64) <-chan time.Duration {
	took, began := make(chan time.Duration, 1), time.Now()
	go func() {
		_, _ = io.Copy(io.Discard, c)
		n.Add(1)
		took <- time.Since(began)
	}()
	return took
}

func selfSigned(t *testing.T) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// TestStrangersHoldNoWebhook: who holds connections keeps no API server out, and what they begin ends in time.
func TestStrangersHoldNoWebhook(t *testing.T) {
	for name, says := range map[string]string{
		"silence":                 "",
		"half of the headers":     "POST " + PodPath + " HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		"a body that is not sent": "POST " + PodPath + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				d, done := open(t, ctx)
				var last <-chan time.Duration
				var cut atomic.Int64
				for range maxConnections + 32 {
					c, err := d.speak(ctx, "10.0.0.9")
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					last = ended(c, &cut)
					_, _ = io.WriteString(c, says)
				}
				synctest.Wait()
				if cut.Load() != 32 {
					t.Errorf("%d connections are cut", cut.Load())
				}
				if got, err := d.call(ctx, "10.0.0.1", "{}"); err != nil || got != "answered" {
					t.Errorf("the API server is answered %q, %v", got, err)
				}
				if took := <-last; took > idleTimeout || says != "" && took > 2*callTimeout {
					t.Errorf("a stranger is let be for %s", took)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestStrangersBodiesLeaveRoomForTheAPIServer: whoever holds all that there is for bodies, or says he will, from however many
// addresses and from the API server's own too, calls are answered that are small, and such as are not.
func TestStrangersBodiesLeaveRoomForTheAPIServer(t *testing.T) {
	const room = 1 << 20
	for name, sent := range map[string]int{"nothing of it comes": 0, "all that is free": smallBody, "more": smallBody + room/32, "as much as there is": smallBody + room} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				d, done := open(t, ctx)
				d.bodies.left = room
				says := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", PodPath, maxBody, strings.Repeat("x", sent))
				for i := range 64 {
					c, err := d.speak(ctx, fmt.Sprintf("10.0.0.%d", i))
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					ended(c, new(atomic.Int64))
					go func() { _, _ = io.WriteString(c, says) }()
				}
				synctest.Wait()
				began := time.Now()
				for _, host := range []string{"10.0.0.1", "192.168.0.1"} {
					for _, n := range []int{2, smallBody, smallBody + 1, smallBody + room/2, smallBody + room} {
						if got, err := d.call(ctx, host, strings.Repeat("x", n)); err != nil || got != "answered" {
							t.Errorf("a call of %d bytes from %s is answered %q, %v", n, host, got, err)
						}
					}
				}
				if took := time.Since(began); took > time.Second {
					t.Errorf("they took %s", took)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
				synctest.Wait()
				if d.bodies.left != room || d.bodies.calls != maxConnections || d.bodies.reading.Len() != 0 {
					t.Errorf("%d bytes and %d calls are left in the end", d.bodies.left, d.bodies.calls)
				}
			})
		})
	}
}

// TestAWebhooksConnectionIsOneCall: of HTTP/2 it would be many at once, whose headers and bodies nobody counts.
func TestAWebhooksConnectionIsOneCall(t *testing.T) {
	for _, offered := range [][]string{{"h2", "http/1.1"}, {"http/1.1"}, nil, {"h2"}} {
		bubble.Run(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			d, done := open(t, ctx)
			c := tls.Client(d.dial("10.0.0.1"), &tls.Config{InsecureSkipVerify: true, NextProtos: offered})
			err := c.HandshakeContext(ctx)
			if only2 := len(offered) == 1 && offered[0] == "h2"; only2 != (err != nil) || c.ConnectionState().NegotiatedProtocol == "h2" {
				t.Errorf("who offers %q speaks %q, %v", offered, c.ConnectionState().NegotiatedProtocol, err)
			}
			_, _ = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
			if said, _ := io.ReadAll(c); err == nil && !strings.HasPrefix(string(said), "HTTP/1.1 ") {
				t.Errorf("who speaks it unasked is answered %q", said)
			}
			_ = c.Close()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAWebhooksHeadersAreFew: what an API server may send is read, a token and what tracing adds, and not several times that.
func TestAWebhooksHeadersAreFew(t *testing.T) {
	for n, want := range map[int]int{12 << 10: http.StatusOK, 32 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		bubble.Run(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			d, done := open(t, ctx)
			c, err := d.speak(ctx, "10.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() {
				_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nBaggage: %s\r\nContent-Length: 2\r\n\r\n{}", PodPath, strings.Repeat("x", n))
			}()
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || resp.StatusCode != want {
				t.Fatalf("%d bytes are answered %+v, %v", n, resp, err)
			}
			_ = resp.Body.Close()
			_ = c.Close()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWebhooksEndInTime: a call under way is answered, one that does not go on is not waited for.
func TestWebhooksEndInTime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		d, done := open(t, ctx)
		slow, err := d.speak(ctx, "10.0.0.9")
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		if _, err := io.WriteString(slow, "POST "+PodPath+" HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		ended(slow, new(atomic.Int64))
		cancel()
		if err := <-done; err != nil || time.Since(began) != drainTime {
			t.Errorf("ended after %s: %v", time.Since(began), err)
		}
	})
}
