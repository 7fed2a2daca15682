// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package bucket

import "time"

// Charge is a cost on one bucket.
type Charge struct {
	Bucket *Bucket
	Cost   float64
}

// Verdict is what a provider says to a call.
type Verdict struct {
	Admitted bool
	// Short is the index of the charge that takes longest to fit; -1 if admitted.
	Short int
	// Wait is how long until all of them fit; valid unless Never.
	Wait time.Duration
	// Never says that the call is larger than a bucket.
	Never bool
}

// Admit takes all charges, or none. Every charge counts as an arrival either way.
func Admit(now time.Time, charges []Charge) Verdict {
	v := Verdict{Admitted: true, Short: -1}
	for i, c := range charges {
		c.Bucket.Arrive(now, c.Cost)
		v = v.worse(now, i, c)
	}
	if !v.Admitted {
		return v
	}
	for _, c := range charges {
		c.Bucket.Take(now, c.Cost)
	}
	return v
}

// worse returns v or, where charge i has to wait longer, the verdict on that.
func (v Verdict) worse(now time.Time, i int, c Charge) Verdict {
	if c.Bucket.Fits(now, c.Cost) || v.Never {
		return v
	}
	wait, ok := c.Bucket.Until(now, c.Cost)
	if !ok {
		return Verdict{Short: i, Never: true}
	}
	if v.Admitted || wait > v.Wait {
		return Verdict{Short: i, Wait: wait}
	}
	return v
}
