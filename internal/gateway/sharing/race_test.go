// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"context"
	"math/rand"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
)

// Many calls at once, large and small, whose callers leave or try again, while the route is edited and the pool comes and goes:
// each ends in one decision, and nothing is left of them.
func TestManyCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, shared(""), 5, true)
		p.connect(true)
		var calls sync.WaitGroup
		for i := range 60 {
			calls.Go(func() {
				r := rand.New(rand.NewSource(int64(i)))
				for range 30 {
					p.live(r)
					time.Sleep(time.Duration(r.Intn(2000)) * time.Millisecond)
				}
			})
		}
		for i := range 20 {
			time.Sleep(3 * time.Second)
			route := shared("")
			if i%3 == 1 {
				route.Lanes, route.Limits = route.Lanes[1:], route.Limits[1:]
			}
			p.Configure(route, 5, time.Now())
			p.connect(i%7 != 3)
			p.Figures(time.Now())
		}
		p.connect(true)
		calls.Wait()
		p.atRest(t)
	})
}

// live is one call's life.
func (p *pair) live(r *rand.Rand) {
	tokens, lane := float64(50+r.Intn(800)), 1
	if r.Intn(8) == 0 {
		tokens, lane = 8000, 0
	}
	k := ticket(tokens, lane, time.Duration(1+r.Intn(40))*time.Second)
	v := p.Enter(k, time.Now())
	for range 2 {
		if v.State == budget.Queued {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+r.Intn(60))*time.Second)
			v, _ = p.Wait(ctx, k)
			cancel()
		}
		if v.State != budget.Admitted {
			break
		}
		k.Sent = time.Now()
		p.Charge(k, 1000, time.Now())
		time.Sleep(time.Duration(r.Intn(500)) * time.Millisecond)
		p.Release(k, admission.Settlement{Kind: admission.Rejected})
		v = p.Retry(k, time.Now().Add(time.Second), time.Now())
	}
	p.Release(k, admission.Settlement{Kind: admission.NotSent})
}
