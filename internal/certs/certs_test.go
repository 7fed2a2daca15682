// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is the simulated time of a test.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newWebhooks() []client.Object {
	m := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: MutatingConfiguration}}
	m.Webhooks = []admissionv1.MutatingWebhook{{Name: "a.example.com"}, {Name: "b.example.com"}}
	v := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ValidatingConfiguration}}
	v.Webhooks = []admissionv1.ValidatingWebhook{{Name: "c.example.com"}}
	return []client.Object{m, v}
}

func newClient() client.Client {
	return fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(newWebhooks()...).Build()
}

func testOptions(c *clock) Options {
	return Options{
		Namespace: "headgate-system", Now: c.Now,
		Mutating: []string{MutatingConfiguration}, Validating: []string{ValidatingConfiguration},
	}
}

// trusted is what the API server verifies with.
func trusted(tb testing.TB, c client.Client) []byte {
	tb.Helper()
	var m admissionv1.MutatingWebhookConfiguration
	if err := c.Get(context.Background(), client.ObjectKey{Name: MutatingConfiguration}, &m); err != nil {
		tb.Fatal(err)
	}
	var v admissionv1.ValidatingWebhookConfiguration
	if err := c.Get(context.Background(), client.ObjectKey{Name: ValidatingConfiguration}, &v); err != nil {
		tb.Fatal(err)
	}
	first := m.Webhooks[0].ClientConfig.CABundle
	if !bytes.Equal(first, m.Webhooks[1].ClientConfig.CABundle) || !bytes.Equal(first, v.Webhooks[0].ClientConfig.CABundle) {
		tb.Fatal("the entries have different bundles")
	}
	return first
}

// verify does what a caller's TLS does with a server's certificate.
func verify(leaf *tls.Certificate, bundle []byte, now time.Time) error {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	for _, name := range []string{"headgate-webhook.headgate-system.svc", "headgate-coordinator.headgate-system.svc"} {
		if _, err := leaf.Leaf.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: now, DNSName: name}); err != nil {
			return err
		}
	}
	return nil
}

func certificate(tb testing.TB, s *Source) *tls.Certificate {
	tb.Helper()
	leaf, err := s.GetCertificate(nil)
	if err != nil {
		tb.Fatal(err)
	}
	return leaf
}

func mustStep(tb testing.TB, steps ...interface{ Step(context.Context) error }) {
	tb.Helper()
	for _, s := range steps {
		if err := s.Step(context.Background()); err != nil {
			tb.Fatal(err)
		}
	}
}

func TestD8ExpiredSecretIsReissued(t *testing.T) {
	c, at := newClient(), &clock{start}
	s := New(c, testOptions(at))
	mustStep(t, s.Issuer(), s)
	at.now = start.AddDate(2, 0, 0)
	if s.Ready() == nil {
		t.Error("ready with an expired leaf")
	}
	restarted := New(c, testOptions(at))
	mustStep(t, restarted.Issuer(), restarted)
	if err := verify(certificate(t, restarted), trusted(t, c), at.now); err != nil {
		t.Error(err)
	}
	if err := restarted.Ready(); err != nil {
		t.Error(err)
	}
}

func TestBrokenSecretIsReplaced(t *testing.T) {
	other, err := newAuthority(start, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	otherKey, err := other.keyPEM()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(map[string][]byte){
		"empty": func(d map[string][]byte) { clear(d) },
		"junk":  func(d map[string][]byte) { d[keyCurrentCert] = []byte("junk") },
		"junk in PEM": func(d map[string][]byte) {
			d[keyCurrentCert] = []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
		},
		"no key":             func(d map[string][]byte) { delete(d, keyCurrentKey) },
		"another's key":      func(d map[string][]byte) { d[keyCurrentKey] = otherKey },
		"certificate as key": func(d map[string][]byte) { d[keyCurrentKey] = d[keyCurrentCert] },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			c, at := newClient(), &clock{start}
			s := New(c, testOptions(at))
			mustStep(t, s.Issuer(), s)
			secret := &corev1.Secret{}
			if err := c.Get(t.Context(), s.opts.secretKey(), secret); err != nil {
				t.Fatal(err)
			}
			spoil(secret.Data)
			if err := c.Update(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			mustStep(t, s.Issuer(), s)
			if err := errors.Join(verify(certificate(t, s), trusted(t, c), at.now), s.Ready()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDeletedSecretBreaksNoHandshake deletes the Secret under two running replicas.
func TestDeletedSecretBreaksNoHandshake(t *testing.T) {
	c, at := newClient(), &clock{start}
	leader, other := New(c, testOptions(at)), New(c, testOptions(at))
	mustStep(t, leader.Issuer(), leader, other)
	before := certificate(t, other)
	if err := c.Delete(t.Context(), leader.emptySecret()); err != nil {
		t.Fatal(err)
	}
	if err := other.Step(t.Context()); err == nil {
		t.Error("no error without a Secret")
	}
	if _, err := leader.ensure(t.Context(), nil); err != nil { // written, not yet published
		t.Fatal(err)
	}
	mustStep(t, other)
	if certificate(t, other) != before {
		t.Error("a leaf was replaced by one that no caller can verify yet")
	}
	mustStep(t, leader.Issuer())
	if err := verify(before, trusted(t, c), at.now); err != nil {
		t.Errorf("what a replica still presents: %v", err)
	}
	mustStep(t, leader, other)
	if err := verify(certificate(t, other), trusted(t, c), at.now); err != nil {
		t.Error(err)
	}
}

// TestD8TwoReplicasShareOneAuthority lets both believe that they lead.
func TestD8TwoReplicasShareOneAuthority(t *testing.T) {
	c, at := newClient(), &clock{start}
	replicas := []*Source{New(c, testOptions(at)), New(c, testOptions(at))}
	var wg sync.WaitGroup
	for _, r := range replicas {
		wg.Go(func() {
			for range 5 {
				mustStep(t, r.Issuer(), r)
			}
		})
	}
	wg.Wait()
	if !bytes.Equal(replicas[0].Bundle(), replicas[1].Bundle()) {
		t.Error("the replicas have different bundles")
	}
	for _, r := range replicas {
		if err := errors.Join(verify(certificate(t, r), trusted(t, c), at.now), r.Ready()); err != nil {
			t.Error(err)
		}
	}
}

func TestReadyWaitsForThePublishedBundle(t *testing.T) {
	c, at := newClient(), &clock{start}
	leader, s := New(c, testOptions(at)), New(c, testOptions(at))
	if err := s.Ready(); !errors.Is(err, errNoLeaf) {
		t.Errorf("before anything: %v", err)
	}
	if _, err := s.GetCertificate(nil); !errors.Is(err, errNoLeaf) {
		t.Errorf("GetCertificate before anything: %v", err)
	}
	if _, err := leader.ensure(t.Context(), nil); err != nil { // written, not yet published
		t.Fatal(err)
	}
	mustStep(t, s)
	if err := s.Ready(); !errors.Is(err, errNotPublished) {
		t.Errorf("before the bundle is published: %v", err)
	}
	mustStep(t, leader.Issuer(), s)
	if err := s.Ready(); err != nil {
		t.Error(err)
	}
	overwriteBundle(t, c)
	mustStep(t, s)
	if err := s.Ready(); !errors.Is(err, errNotPublished) {
		t.Errorf("after somebody wrote another bundle: %v", err)
	}
	mustStep(t, leader.Issuer(), s)
	if err := s.Ready(); err != nil {
		t.Errorf("after the leader mended it: %v", err)
	}
}

func overwriteBundle(t *testing.T, c client.Client) {
	t.Helper()
	var m admissionv1.MutatingWebhookConfiguration
	if err := c.Get(t.Context(), client.ObjectKey{Name: MutatingConfiguration}, &m); err != nil {
		t.Fatal(err)
	}
	m.Webhooks[1].ClientConfig.CABundle = nil
	if err := c.Update(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
}

// TestKeysStayInTheSecret looks for private keys wherever they must not be.
func TestKeysStayInTheSecret(t *testing.T) {
	c, at := newClient(), &clock{start}
	s := New(c, testOptions(at))
	mustStep(t, s.Issuer(), s)
	at.now = start.Add(250 * 24 * time.Hour)
	mustStep(t, s.Issuer(), s) // prepares the next
	at.now = at.now.Add(25 * time.Hour)
	mustStep(t, s.Issuer(), s) // promotes it
	secret, err := s.readSecret(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{}
	for name, value := range secret.Data {
		if bytes.Contains(value, []byte("PRIVATE KEY")) {
			keys = append(keys, name)
		}
	}
	if !slices.Equal(keys, []string{keyCurrentKey}) || len(secret.Data[keyPreviousCert]) == 0 {
		t.Errorf("after a rotation the Secret has the keys %v", keys)
	}
	if bytes.Contains(s.Bundle(), []byte("KEY")) || bytes.Contains(trusted(t, c), []byte("KEY")) {
		t.Error("a bundle contains a key")
	}
	if s.signer.key != nil {
		t.Error("the authority's key stays in memory")
	}
}

func TestD8MetricSecondsToExpiry(t *testing.T) {
	c, at := newClient(), &clock{start}
	s := New(c, testOptions(at))
	if n := testutil.CollectAndCount(s); n != 0 {
		t.Errorf("%d samples before there is a certificate", n)
	}
	mustStep(t, s.Issuer(), s)
	at.now = start.Add(time.Hour)
	want := strings.NewReader(`
# HELP headgate_certificate_expiry_seconds Seconds until the certificate expires: this replica's serving certificate, or its authority.
# TYPE headgate_certificate_expiry_seconds gauge
headgate_certificate_expiry_seconds{certificate="ca"} 3.15324e+07
headgate_certificate_expiry_seconds{certificate="leaf"} 601200
`)
	if err := testutil.CollectAndCompare(s, want); err != nil {
		t.Error(err)
	}
}

// TestStartServesAndStops runs both parts as the manager does, on a simulated clock, and renews a leaf.
func TestStartServesAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := testOptions(nil)
		o.Now, o.LeafLifetime, o.Poll = nil, time.Hour, 20*time.Second
		s := New(newClient(), o)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = s.Start(ctx) })
		time.Sleep(time.Minute)
		if err := s.Ready(); !errors.Is(err, errNoLeaf) {
			t.Errorf("without a leader: %v", err)
		}
		wg.Go(func() { _ = s.Issuer().Start(ctx) })
		time.Sleep(3 * time.Second)
		if err := s.Ready(); err != nil {
			t.Errorf("3 s after a leader came: %v", err)
		}
		first := certificate(t, s)
		time.Sleep(41 * time.Minute)
		if second := certificate(t, s); second == first || s.Ready() != nil {
			t.Error("the leaf was not renewed after two thirds of its life")
		}
		cancel()
		wg.Wait()
	})
}

// FuzzParseAuthority reads what somebody may have written into the Secret.
func FuzzParseAuthority(f *testing.F) {
	a, err := newAuthority(start, time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	key, err := a.keyPEM()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(a.certPEM(), key)
	f.Add(a.certPEM(), []byte(nil))
	f.Add(pem.EncodeToMemory(&pem.Block{Type: blockCertificate}), key)
	f.Fuzz(func(t *testing.T, cert, key []byte) {
		got, err := parseAuthority(cert, key)
		if err != nil {
			return
		}
		if !got.cert.IsCA || (len(key) > 0) != (got.key != nil) {
			t.Errorf("accepted %q with key %t", got.cert.Subject, got.key != nil)
		}
		if !bundleHas(got.certPEM(), got.cert) {
			t.Error("a certificate is not in its own PEM")
		}
	})
}
