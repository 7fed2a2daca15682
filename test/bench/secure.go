// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
)

// secureUpstream answers by TLS and HTTP/2, as hosted providers do. It is net/http's own server: dearer than the raw one,
// and the same for all.
type secureUpstream struct {
	server *httptest.Server
	ca     string
}

func startSecureUpstream(dir string) (*secureUpstream, error) {
	head, body, _ := bytes.Cut(jsonAnswer(), []byte("\r\n\r\n"))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.ProtoMajor != 2 {
			http.Error(w, "not by HTTP/2", http.StatusHTTPVersionNotSupported)
			return
		}
		for line := range strings.SplitSeq(string(head), "\r\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				w.Header().Set(name, value)
			}
		}
		_, _ = w.Write(body)
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	u := &secureUpstream{server: s, ca: filepath.Join(dir, "provider.pem")}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(u.ca, block, 0o600); err != nil {
		s.Close()
		return nil, err
	}
	return u, nil
}

// trust is a client's configuration that trusts the certificate in a file; nil without one.
func trust(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	block, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(block) {
		return nil, errors.New("no certificate in " + file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// startSecured starts rp and the gateway once more, in front of the provider behind TLS and HTTP/2.
func (b *bench) startSecured(dir string) (err error) {
	if b.secure, err = startSecureUpstream(dir); err != nil {
		return err
	}
	for _, s := range b.o.starters() {
		if !s.required {
			continue
		}
		p, err := s.start(dir, provider{b.secure.server.Listener.Addr().String(), b.secure.ca})
		if err != nil {
			return err
		}
		b.secured = append(b.secured, p)
		if err = p.waitListening(); err == nil {
			err = warm(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stopSecured ends what startSecured started.
func (b *bench) stopSecured() {
	for _, p := range b.secured {
		p.stop()
	}
	if b.secure != nil {
		b.secure.server.Close()
	}
}

// measureSecure makes calls to the provider behind TLS and HTTP/2, through the proxies of p's name that have it.
func (b *bench) measureSecure(ctx context.Context, p *process) error {
	const perSecond = 500 // the provider's own part of TLS is dear
	for _, s := range b.secured {
		if s.name != p.name {
			continue
		}
		m := paced(ctx, s, request(s, textBody(1_000)), perSecond, b.o.seconds)
		b.figures.add(s.name, figureSecureP50, micros(m.p50))
		b.figures.add(s.name, figureSecureCPU, micros(m.perCall()))
		if m.failed != nil {
			return fmt.Errorf("TLS: %w: %s", m.failed, s.stderr.String())
		}
	}
	return nil
}
