// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

var (
	errNoLeaf       = errors.New("no serving certificate yet: waiting for the leader's authority")
	errLeafExpired  = errors.New("the serving certificate has expired")
	errNotPublished = errors.New("the webhook configurations do not trust the serving certificate yet")
)

// Source is every replica's part: it signs this replica's leaf and knows the bundle.
type Source struct {
	client client.Client
	opts   Options

	mu     sync.RWMutex
	bundle []byte
	leaf   *tls.Certificate
	// signer made the leaf; without its key.
	signer *authority
	// published says whether callers trust the signer.
	published bool
}

// New returns a source that reads through a client without a cache.
func New(c client.Client, opts Options) *Source {
	return &Source{client: c, opts: opts.withDefaults()}
}

// Issuer returns the leader's part.
func (s *Source) Issuer() *Issuer { return &Issuer{source: s} }

// NeedLeaderElection makes the manager run it on every replica.
func (s *Source) NeedLeaderElection() bool { return false }

// Start works until ctx ends.
func (s *Source) Start(ctx context.Context) error {
	s.poll(ctx, func() error { return s.Step(ctx) })
	return nil
}

// Step looks once at what is stored, and signs a leaf if one is due.
func (s *Source) Step(ctx context.Context) error {
	r, err := s.reread(ctx)
	if err != nil {
		return err
	}
	configurations, err := s.configurations(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bundle = r.bundle()
	if err := s.renew(s.opts.Now(), r.current, configurations); err != nil {
		return err
	}
	s.published = publishedIn(configurations, s.signer)
	return nil
}

// renew replaces the leaf when it is due, under s.mu. A leaf that callers trust is not given up for one
// they do not trust yet, unless it has expired.
func (s *Source) renew(now time.Time, current *authority, configurations []configuration) error {
	good := s.leaf != nil && now.Before(s.leaf.Leaf.NotAfter)
	if good {
		fresh := current.equal(s.signer) && now.Before(s.renewAt())
		wait := publishedIn(configurations, s.signer) && !publishedIn(configurations, current)
		if fresh || wait {
			return nil
		}
	}
	leaf, err := current.sign(now, s.opts.LeafLifetime, s.opts.DNSNames, s.opts.IPAddresses)
	if err != nil {
		return err
	}
	s.leaf, s.signer = leaf, &authority{cert: current.cert}
	return nil
}

// renewAt is after two thirds of the leaf's life; s.mu is held.
func (s *Source) renewAt() time.Time {
	from := s.leaf.Leaf.NotBefore.Add(backdate)
	return from.Add(s.leaf.Leaf.NotAfter.Sub(from) * 2 / 3)
}

// Bundle is the PEM of every authority a caller must trust, nil before there is one.
func (s *Source) Bundle() []byte {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return bytes.Clone(s.bundle)
}

// GetCertificate is for tls.Config.
func (s *Source) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.leaf == nil {
		return nil, errNoLeaf
	}
	return s.leaf, nil
}

// Ready says what callers would trip over, or nil.
func (s *Source) Ready() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.leaf == nil:
		return errNoLeaf
	case !s.opts.Now().Before(s.leaf.Leaf.NotAfter):
		return errLeafExpired
	case !s.published:
		return errNotPublished
	}
	return nil
}

// lastSigner is the authority of this replica's leaf, without its key; nil before there is a leaf.
func (s *Source) lastSigner() *authority {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.signer
}

// poll calls step until ctx ends: fast until callers can be served, then at the ordinary pace.
func (s *Source) poll(ctx context.Context, step func() error) {
	log := logf.FromContext(ctx).WithName("certs")
	for ctx.Err() == nil {
		if err := step(); err != nil && ctx.Err() == nil {
			log.Info("certificates not settled, trying again", "reason", err.Error())
		}
		wait := s.opts.Poll
		if s.Ready() != nil {
			wait /= 10
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
