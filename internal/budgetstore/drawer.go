// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package budgetstore

import (
	"time"

	"github.com/headgate-dev/headgate/internal/budget/pool"
)

// Pool is a pool with external budgets; *pool.Pool is one.
type Pool interface {
	Standing(now time.Time) pool.Standing
	Supply(budget string, perSecond []pool.Allotment)
	Needs(now time.Time) pool.Needs
	Allot(budget string, to []pool.Allotment, now time.Time) (left float64)
	Lease(budget string, slots float64, now time.Time)
	Surplus(now time.Time, keep time.Duration) []pool.Amount
}

// Account is a pool and what it draws on.
type Account struct {
	// Name is the account's in the store.
	Name string
	Pool Pool
	// Budgets are the pool's; those that are not External are left alone.
	Budgets []pool.Budget
}

// The times of drawing, and their reasons.
const (
	// Life is how long a lease lasts, from when a draw was sent that was answered. The store knows of it by the next draw
	// only, so an idle drawer may miss two before it counts as silent. It is short, since a store that lost all it knew has
	// to wait for as long as somebody may go by a lease.
	Life = 4 * time.Second
	// soon is how long after a draw the next one is due that something waits for, busy while something is spent or held,
	// idle otherwise.
	soon = 100 * time.Millisecond
	busy = 250 * time.Millisecond
	idle = time.Second
	// tries are how long after draws that failed the next ones are due.
	tries, mostTries = 200 * time.Millisecond, time.Second
	// kept is how long what the rate brings stays in a pool that spends.
	kept = 250 * time.Millisecond
)

// MaxAccounts bounds the accounts of a drawer.
const MaxAccounts = 50_000

// Config is who a drawer is.
type Config struct {
	// Name is the same over restarts and for the next leader: while one of the name is heard the share of a former
	// incarnation is not left to it any longer.
	Name string
	// Incarnation is another one for each drawer.
	Incarnation string
	// TTL is how long holders may spend after they were heard of last, Drain how long calls in flight may last.
	TTL, Drain time.Duration
}

// Drawer draws on a store. It is not safe for concurrent use.
type Drawer struct {
	cfg      Config
	start    time.Time
	accounts map[string]*account
	turn     uint64
}

// New starts an incarnation.
func New(cfg Config, now time.Time) *Drawer {
	if cfg.TTL <= 0 {
		cfg.TTL = 10 * time.Second
	}
	if cfg.Drain <= 0 {
		cfg.Drain = 10 * time.Minute
	}
	return &Drawer{cfg: cfg, start: now, accounts: map[string]*account{}}
}

// Draw is one draw under way.
type Draw struct {
	Request *Request
	account *account
	sent    time.Time
	// lanes are those of the request's vectors, as the pool calls them.
	lanes []string
}

// Draws are those that are due now, at most so many; those longest not drawn come first. Accounts that are not named any
// longer are forgotten: what they had is spent.
func (d *Drawer) Draws(accounts []Account, most int, now time.Time) []Draw {
	d.turn++
	var due []*account
	for _, a := range accounts[:min(len(accounts), MaxAccounts)] {
		k := d.accounts[a.Name]
		if k == nil {
			k = newAccount(d, a.Name, now)
			d.accounts[a.Name] = k
		}
		k.turn = d.turn
		k.adopt(a, now)
		if k.due(now) {
			due = append(due, k)
		}
	}
	for name, k := range d.accounts {
		if k.turn != d.turn {
			delete(d.accounts, name)
		}
	}
	oldest(due)
	draws := make([]Draw, 0, min(len(due), most))
	for _, k := range due[:min(len(due), most)] {
		draws = append(draws, k.draw(now))
	}
	return draws
}

// Receive takes in what became of a draw.
func (d *Drawer) Receive(w Draw, r Result, now time.Time) {
	k := w.account
	if d.accounts[k.name] != k {
		return
	}
	k.under = false
	if r.Err != nil || r.Answer == nil || len(r.Answer.Lines) != len(w.Request.Lines) {
		k.failed(now)
		return
	}
	k.receive(w, r.Answer, now)
}

// Lost says that an account has no lease, and since when: the first one, if there are several. One that has just begun is
// not lost yet.
func (d *Drawer) Lost(now time.Time) (since time.Time, lost bool) {
	for _, k := range d.accounts {
		if len(k.lines) == 0 || k.leased(now) || k.seen.Instance == "" && now.Sub(k.lost) < Life {
			continue
		}
		if !lost || k.lost.Before(since) {
			since, lost = k.lost, true
		}
	}
	return since, lost
}

// Leased says that an account has a lease.
func (d *Drawer) Leased(now time.Time) bool {
	for _, k := range d.accounts {
		if k.leased(now) {
			return true
		}
	}
	return false
}

// Leave gives back what pools have and says that nothing is spent any longer. Nothing is to be drawn after it.
func (d *Drawer) Leave(now time.Time) []Draw {
	var draws []Draw
	for _, k := range d.accounts {
		if k.seen.Instance == "" {
			continue
		}
		k.leaving = true
		w := k.draw(now)
		w.Request.Leaving, w.Request.Vectors = true, nil
		draws = append(draws, w)
	}
	return draws
}
