// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"time"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/figures"
)

// token is the one pod's, and thePod is that.
const token = "token-of-the-bench"

var thePod = figures.Pod{Namespace: "default", Name: "bench", UID: "bench"}

// cluster is what a coordinator asks of Kubernetes.
type cluster struct{}

// Labels implements coordinator.Pods.
func (cluster) Labels(pod figures.Pod) (map[string]string, bool) {
	return map[string]string{"app": "bench"}, pod == thePod
}

// Gateways implements coordinator.Pods.
func (cluster) Gateways(string) []figures.Pod { return []figures.Pod{thePod} }

// Review implements coordinator.Reviewer.
func (cluster) Review(_ context.Context, presented string) (coordinator.Identity, error) {
	if presented != token {
		return coordinator.Identity{}, errors.New("no such token")
	}
	return coordinator.Identity{Pod: thePod}, nil
}

// leader is a leader at its own address, for good.
type leader struct{ address string }

// Leader implements coordinator.Leadership.
func (l leader) Leader() (string, bool) { return l.address, true }

// Epoch implements coordinator.Leadership.
func (leader) Epoch() uint64 { return 1 }

// Before implements coordinator.Leadership.
func (leader) Before() uint64 { return 0 }

// First implements coordinator.Leadership.
func (leader) First() bool { return true }

// Until implements coordinator.Leadership.
func (leader) Until() time.Time { return time.Time{} }

// certificate is one for the loopback address, its own authority.
func certificate() (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), nil
}
