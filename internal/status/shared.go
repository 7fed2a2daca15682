// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// declaredLimits are those that hold calls back: a limit that is only watched is nobody's business.
func declaredLimits(r plan.Route) []plan.Limit {
	return slices.DeleteFunc(slices.Clone(r.Limits), func(l plan.Limit) bool { return l.Watch })
}

func (in Inputs) sharedLimit(provider, name string) *ledger.LimitFigures {
	limits := in.Budgets[provider].Limits
	for i := range limits {
		if limits[i].Name == name {
			return &limits[i]
		}
	}
	return nil
}

func (in Inputs) sharedLane(provider, name string) *ledger.LaneFigures {
	lanes := in.Budgets[provider].Lanes
	for i := range lanes {
		if lanes[i].Name == name {
			return &lanes[i]
		}
	}
	return nil
}

// ofAccount: the limit is shared with other namespaces, or stands for an account that is not to be used.
func (v limitView) ofAccount() bool { return plan.AccountOf(v.declared.Name) != "" }

// closed: the account does not allow the namespace.
func (v limitView) closed() bool { return v.ofAccount() && v.declared.Account == "" }

func (v limitView) reason() string {
	if v.ofAccount() {
		return v1alpha1.ReasonAccountShare
	}
	return v1alpha1.ReasonPolicyLimit
}

// perWindow turns units a minute, in which the coordinator counts, into those of the limit's window.
func (v limitView) perWindow(perMinute float64) float64 {
	if v.declared.Budget == plan.InFlight {
		return perMinute // slots are counted
	}
	return perMinute * v.window.Minutes()
}

// allowance is what calls of the policy may use: of an account's limit the share, as far as it is known.
func (v limitView) allowance() float64 {
	if v.declared.Account != "" && v.shared != nil && v.shared.Share > 0 {
		return v.perWindow(v.shared.Share)
	}
	return float64(v.declared.Amount)
}

// addShare says what an account leaves to the namespace.
func (v limitView) addShare(s *v1alpha1.LimitStatus) {
	if v.declared.Account == "" || v.shared == nil {
		return
	}
	s.Share = amount(v.perWindow(v.shared.Share))
	if borrowed := v.perWindow(v.shared.Borrowed); borrowed >= 1 {
		s.UsedBorrowed = amount(borrowed)
	}
}

// nextBulkIn is when the next large call of the lane would go, where the coordinator can tell.
func (v laneView) nextBulkIn() v1alpha1.Wait {
	if v.shared == nil || !v.shared.Known {
		return ""
	}
	return wait(v.shared.NextBulk)
}

// onlyBorrows: the lane's calls draw on an account of which the namespace is sure of nothing, so nothing bounds their wait.
func (v laneView) onlyBorrows() bool {
	return slices.ContainsFunc(v.route.Limits, func(l plan.Limit) bool {
		return l.Account != "" && l.Amount == 0 && l.Burst > 0 && l.CountsAll(&v.declared)
	})
}

// holdingShare says how an account's limit holds calls back. It names no other namespace.
func (v limitView) holdingShare() string {
	account := plan.AccountOf(v.declared.Name)
	total := string(amount(float64(v.declared.Amount))) + perWindow(v.per)
	switch {
	case v.closed():
		return fmt.Sprintf("ProviderAccount %s does not allow this namespace, so no call goes.", account)
	case v.declared.Budget == plan.InFlight:
		return fmt.Sprintf("%s: %d calls in flight; the account's %s at once are shared with other namespaces.", v.name, int64(v.used), total)
	case v.shared == nil:
		return fmt.Sprintf("%s: %s; the account's %s are shared with other namespaces.", v.name, v.offeredText(), total)
	}
	sure := "none of it guaranteed"
	if v.guaranteed > 0 {
		sure = fmt.Sprintf("%s%s guaranteed", amount(v.perWindow(v.shared.Guaranteed)), perWindow(v.per))
	}
	return fmt.Sprintf("%s: %s; of the account's %s this namespace has %s%s now (%s).",
		v.name, v.offeredText(), total, amount(v.allowance()), perWindow(v.per), sure)
}

// askForMore is what helps where an account's limit holds calls back.
func (v limitView) askForMore(provider string) string {
	account := plan.AccountOf(v.declared.Name)
	switch {
	case v.closed():
		return fmt.Sprintf("Ask the platform team to list this namespace in allowedNamespaces of ProviderAccount %s, or remove accountRef.", account)
	case v.allowance() >= fullFrom*float64(v.declared.Amount):
		return fmt.Sprintf("That is all of account %s: ask %s for more and raise the account's limit, or %s.", account, provider, v.cut())
	}
	return fmt.Sprintf("Ask the platform team for a larger part of account %s, or %s.", account, v.cut())
}

// outageWords say what gateways do meanwhile that hear from no coordinator, and name the modes.
func outageWords(views []providerView) string {
	words := map[string]string{
		"":             "each keeps to a small safe share of the limits (outage: Safe)",
		plan.LastGrant: "each goes on at the rate that it was told last (outage: LastGrant)",
		plan.Open:      "only what the provider reports holds calls back (outage: Open)",
	}
	var modes, named []string
	for _, v := range views {
		if !slices.Contains(modes, v.route.Outage) {
			modes = append(modes, v.route.Outage)
		}
		mode := v.route.Outage
		if mode == "" {
			mode = string(v1alpha1.OutageSafe)
		}
		named = append(named, v.name+" "+mode)
	}
	switch len(modes) {
	case 0:
		return words[""]
	case 1:
		return words[modes[0]]
	}
	return "each does what spec.providers.outage says: " + strings.Join(named, ", ")
}

// storeHeld is what all that draw on a store keep to together while it does not answer: the part of the refill that is
// collected for such a time.
const storeHeld = "all that draw on it keep to half of each limit together"

// storeLost says since when, and how much is left of the limit that is asked for most.
func storeLost(since time.Time, views []providerView) string {
	text := storeLostSince(since)
	for i := range views {
		if l := views[i].fullest(); l != nil && l.declared.Budget != plan.InFlight && l.declared.Amount > 1 {
			return text + fmt.Sprintf(", %s%s of %s.", amount(float64(l.declared.Amount)/2), perWindow(l.per), l.name)
		}
	}
	return text + "."
}

func storeLostSince(since time.Time) string {
	return fmt.Sprintf("The budget store has not answered since %s; until it does, %s", since.UTC().Format("2006-01-02 15:04 MST"), storeHeld)
}
