// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/plan"
)

const (
	// leastAccountGateways keeps an account's safe share small before its policies are seen.
	leastAccountGateways = 4
	// mostAccountGateways is what a pool can have.
	mostAccountGateways = 10_000
	// accountSettles is how long a smaller number of gateways is not believed: a new leader learns of one namespace after
	// the other.
	accountSettles = 10 * time.Minute
)

// accountBook remembers which policies draw on which account. Namespaces are reconciled each for itself; what they have in
// common is in here. Its lock is never held over another, nor over a call.
type accountBook struct {
	mu       sync.Mutex
	started  time.Time
	byName   map[string]*accountUse
	accounts map[string][]string // names of accounts, by namespace
}

// accountUse is one account's.
type accountUse struct {
	namespaces map[string]accountUsers
	// gateways bounds the safe share, over all namespaces.
	gateways int32
}

// accountUsers are one namespace's.
type accountUsers struct {
	routes   []accountUser
	gateways int32
	refused  bool
}

// accountUser is a policy's provider that draws on an account.
type accountUser struct {
	policy string
	route  *plan.Route
}

func newAccountBook(now time.Time) *accountBook {
	return &accountBook{started: now, byName: map[string]*accountUse{}, accounts: map[string][]string{}}
}

// put replaces what is known of a namespace: refs are the accounts that its policies refer to, refused those of them that
// do not allow it. It returns the accounts whose number of gateways is another now: every namespace's plan states it.
func (b *accountBook) put(namespace string, p *plan.Plan, refs, refused []string, now time.Time) (changed []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	users := usersOf(p)
	names := slices.Concat(refs, slices.Collect(maps.Keys(users)), b.accounts[namespace])
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		u, used := users[name]
		u.refused = slices.Contains(refused, name)
		use := b.use(name)
		if used || slices.Contains(refs, name) {
			use.gateways = max(use.gateways, leastAccountGateways, gatewaysIn(p, name))
			use.namespaces[namespace] = u
		} else {
			delete(use.namespaces, namespace)
		}
		if len(use.namespaces) == 0 {
			delete(b.byName, name)
			continue
		}
		if use.resize(now.Sub(b.started) < accountSettles) {
			changed = append(changed, name)
		}
	}
	if len(refs)+len(users) == 0 {
		delete(b.accounts, namespace)
		return changed
	}
	b.accounts[namespace] = slices.Concat(refs, slices.Collect(maps.Keys(users)))
	return changed
}

// review returns the accounts for which time alone makes another number of gateways.
func (b *accountBook) review(now time.Time) (changed []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, use := range b.byName {
		if use.resize(now.Sub(b.started) < accountSettles) {
			changed = append(changed, name)
		}
	}
	return changed
}

func (b *accountBook) use(name string) *accountUse {
	use := b.byName[name]
	if use == nil {
		use = &accountUse{namespaces: map[string]accountUsers{}}
		b.byName[name] = use
	}
	return use
}

// usersOf are a plan's routes that draw on accounts, by account.
func usersOf(p *plan.Plan) map[string]accountUsers {
	out := map[string]accountUsers{}
	for i := range p.Policies {
		counted := map[string]bool{}
		for j := range p.Policies[i].Routes {
			route := &p.Policies[i].Routes[j]
			account := route.AccountName()
			if account == "" {
				continue
			}
			u := out[account]
			u.routes = append(u.routes, accountUser{p.Policies[i].Name, route})
			if !counted[account] {
				u.gateways += p.Policies[i].MaxGateways
				counted[account] = true
			}
			out[account] = u
		}
	}
	return out
}

// gatewaysIn is the number that a plan of before states, 0 if it states none.
func gatewaysIn(p *plan.Plan, account string) int32 {
	most := int32(0)
	if p == nil {
		return most
	}
	for i := range p.Policies {
		for _, r := range p.Policies[i].Routes {
			for _, l := range r.Limits {
				if l.Account == account {
					most = max(most, min(l.MaxGateways, mostAccountGateways))
				}
			}
		}
	}
	return most
}

// resize keeps the number at the next power of two, so that no more than a few plans change while gateways come and go;
// and where fewer are needed, at up to four times that.
func (u *accountUse) resize(young bool) bool {
	sum := int64(0)
	for _, users := range u.namespaces {
		sum += int64(users.gateways)
	}
	needed := int32(leastAccountGateways)
	for int64(needed) < sum && needed < mostAccountGateways {
		needed *= 2
	}
	needed = min(needed, mostAccountGateways)
	if needed == u.gateways || needed < u.gateways && (young || u.gateways < 4*needed) {
		return false
	}
	u.gateways = needed
	return true
}

// gateways is the account's number. Of one that states none it is at least what a namespace's plan of before states, nil
// if there is none: a new leader does not begin with a larger safe share.
func (b *accountBook) gateways(a *v1alpha1.ProviderAccount, before *plan.Plan) int32 {
	if a.Spec.MaxGateways != nil {
		return *a.Spec.MaxGateways
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	use := b.byName[a.Name]
	if use == nil {
		return max(gatewaysIn(before, a.Name), leastAccountGateways)
	}
	return use.gateways
}

// users are the namespaces whose policies refer to an account, and what they have of it.
func (b *accountBook) users(name string) map[string]accountUsers {
	b.mu.Lock()
	defer b.mu.Unlock()
	if use := b.byName[name]; use != nil {
		return maps.Clone(use.namespaces)
	}
	return nil
}

// outage is the mode of the account's pool: that of the policy that keeps least to it.
func outage(users map[string]accountUsers) string {
	mode := ""
	for _, u := range users {
		for _, r := range u.routes {
			switch r.route.Outage {
			case plan.Open:
				return plan.Open
			case plan.LastGrant:
				mode = plan.LastGrant
			}
		}
	}
	return mode
}
