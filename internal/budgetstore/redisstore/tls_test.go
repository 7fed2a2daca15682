// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// certificate makes one that signs itself, for an address, and returns it and the files that have it and its key.
func certificate(t *testing.T, address string) (cert []byte, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the store"}, IPAddresses: []net.IP{net.ParseIP(address)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	certFile, keyFile = write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), certFile, keyFile
}

// TestTLS: a server is asked whose certificate is trusted and is for its address; no other one hears the password.
func TestTLS(t *testing.T) {
	cert, certFile, keyFile := certificate(t, "127.0.0.1")
	other, otherFile, otherKey := certificate(t, "127.0.0.2")
	right := strings.Replace(redisserver.StartTLS(t, certFile, keyFile).URL(), "redis://", "rediss://", 1)
	elsewhere := strings.Replace(redisserver.StartTLS(t, otherFile, otherKey).URL(), "redis://", "rediss://", 1)
	for name, c := range map[string]struct {
		url  string
		ca   []byte
		want string
	}{
		"trusted":            {right, cert, ""},
		"of another issuer":  {right, other, "certificate"},
		"by the system only": {right, nil, "certificate"},
		"of another address": {elsewhere, other, "certificate is valid for 127.0.0.2"},
		"without TLS":        {strings.Replace(right, "rediss://", "redis://", 1), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(Options{URL: c.url, Password: redisserver.Password, CA: c.ca, patience: patience})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			d := newClient(t, s, "account/tls", name)
			if name == "trusted" {
				d.granted(10)
				return
			}
			_, err = d.draw(1)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), redisserver.Password) {
				t.Errorf("%v", err)
			}
		})
	}
}
