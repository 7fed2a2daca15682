// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// backdate forgives clocks that run behind.
const backdate = time.Hour

const (
	blockCertificate = "CERTIFICATE"
	blockKey         = "EC PRIVATE KEY"
)

var (
	errNoPEM       = errors.New("no PEM block of the expected type")
	errKeyMismatch = errors.New("the key does not belong to the certificate")
	errNotCA       = errors.New("the certificate is not an authority's")
)

// authority is a CA; key is nil of one that only verifies.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(now time.Time, lifetime time.Duration) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// Overlapping authorities differ in name, so that no verifier mistakes one for another.
		Subject:               pkix.Name{CommonName: fmt.Sprintf("headgate-ca-%.8x", serial)},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(lifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &authority{cert: cert, key: key}, err
}

// issuedAt is when newAuthority made it.
func (a *authority) issuedAt() time.Time { return a.cert.NotBefore.Add(backdate) }

// usable says whether it still verifies what it signed.
func (a *authority) usable(now time.Time) bool { return a != nil && now.Before(a.cert.NotAfter) }

func (a *authority) equal(b *authority) bool {
	return a != nil && b != nil && a.cert.Equal(b.cert)
}

// sign makes a serving certificate that never outlives the authority.
func (a *authority) sign(now time.Time, lifetime time.Duration, names []string, ips []net.IP) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	until := now.Add(lifetime)
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "headgate-manager"},
		NotBefore:    now.Add(-backdate),
		NotAfter:     until,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     names,
		IPAddresses:  ips,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, err
}

func newSerial() (*big.Int, error) {
	return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
}

func (a *authority) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: blockCertificate, Bytes: a.cert.Raw})
}

func (a *authority) keyPEM() ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: blockKey, Bytes: der}), nil
}

// parseAuthority reads what certPEM and keyPEM wrote; keyPEM may be empty.
func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	block, _ := pem.Decode(certPEM)
	if block == nil || block.Type != blockCertificate {
		return nil, errNoPEM
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}
	if !cert.IsCA {
		return nil, errNotCA
	}
	if len(keyPEM) == 0 {
		return &authority{cert: cert}, nil
	}
	if block, _ = pem.Decode(keyPEM); block == nil || block.Type != blockKey {
		return nil, errNoPEM
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, errNoPEM // the parser's own words might quote the key
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, errKeyMismatch
	}
	return &authority{cert: cert, key: key}, nil
}

// bundleHas says whether a PEM bundle contains the certificate.
func bundleHas(bundle []byte, cert *x509.Certificate) bool {
	for len(bundle) > 0 {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return false
		}
		if block.Type == blockCertificate && bytes.Equal(block.Bytes, cert.Raw) {
			return true
		}
	}
	return false
}
