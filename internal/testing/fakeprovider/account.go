// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/bucket"
)

// accountID is what buckets are kept by.
type accountID struct {
	dialect Dialect
	keyHash string
	group   string
}

// account is the buckets of one key and model group.
type account struct {
	id     accountID
	limits []limited
	counts counts
}

// limited is a limit and its bucket.
type limited struct {
	Limit
	bucket *bucket.Bucket
}

// overflowGroup is where calls go once there are MaxAccounts accounts.
const overflowGroup = "(other)"

// account returns the account of id, making it on first sight. s.mu is held.
func (s *Server) account(id accountID, now time.Time) *account {
	if a := s.accounts[id]; a != nil {
		return a
	}
	if len(s.accounts) >= s.opts.MaxAccounts {
		id.keyHash, id.group = overflowGroup, overflowGroup
		if a := s.accounts[id]; a != nil {
			return a
		}
	}
	a := &account{id: id}
	for _, l := range s.opts.Profiles[id.dialect].Limits {
		b := bucket.New(l.Burst, l.Amount/l.Window.Seconds(), s.startLevel(l), now)
		a.limits = append(a.limits, limited{Limit: l, bucket: b})
	}
	s.accounts[id] = a
	return a
}

// startLevel is the level of a bucket that nobody has used. s.mu is held.
func (s *Server) startLevel(l Limit) float64 {
	percent := 100.0
	if l.StartPercent != nil {
		percent = *l.StartPercent
	}
	if v, ok := s.levelPercent[l.Budget]; ok {
		percent = v
	}
	return l.Burst * percent / 100
}

// KeyHash is how an API key appears in arrivals and figures.
func KeyHash(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}
