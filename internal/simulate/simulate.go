// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/policy"
	"github.com/headgate-dev/headgate/internal/simulate/baseline"
	"github.com/headgate-dev/headgate/internal/simulate/clock"
	"github.com/headgate-dev/headgate/internal/simulate/fleet"
	"github.com/headgate-dev/headgate/internal/simulate/gateway"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
	"github.com/headgate-dev/headgate/internal/simulate/world"
)

// ErrInvalid is what errors about the input are.
var ErrInvalid = errors.New("the policy or the workload cannot be simulated")

// Input is the content of both files.
type Input struct {
	Policy, Workload []byte
	Seed             uint64
}

// Run simulates. An error about the input is ErrInvalid or workload.ErrInvalid.
func Run(in Input) (*result.Result, error) {
	p, err := compile(in.Policy)
	if err != nil {
		return nil, err
	}
	notes := asOwn(p)
	wl, err := workload.Parse(in.Workload)
	if err != nil {
		return nil, err
	}
	if err := editsExist(p, wl); err != nil {
		return nil, err
	}
	r, err := play(p, wl, in.Seed, gateway.Maker(gateway.Options{Policy: p, Fleet: fleet.New}))
	if err != nil {
		return nil, err
	}
	if err := baselines(r, p, wl, in.Seed); err != nil {
		return nil, err
	}
	r.Notes = notes
	return r, expectAll(r, wl.Expect)
}

func play(p *plan.Policy, wl *workload.Workload, seed uint64, client world.Maker) (*result.Result, error) {
	r, err := world.Run(world.Options{Workload: wl, Policy: p, Seed: seed, Client: client})
	if errors.Is(err, clock.ErrTooMuch) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return r, err
}

// baselines plays the same arrivals without Headgate, or with less of it.
func baselines(r *result.Result, p *plan.Policy, wl *workload.Workload, seed uint64) error {
	for _, name := range wl.Baselines {
		client, err := baseline.For(name, p)
		if err != nil {
			return err
		}
		other, err := play(p, wl, seed, client)
		if err != nil {
			return fmt.Errorf("baseline %s: %w", name, err)
		}
		if r.Baselines == nil {
			r.Baselines = map[string]*result.Result{}
		}
		r.Baselines[name] = other
	}
	return nil
}

// compile reads one policy as the gateway would get it.
func compile(content []byte) (*plan.Policy, error) {
	objects, err := policy.Read(content)
	if err != nil {
		return nil, fmt.Errorf("%w: policy: %w", ErrInvalid, err)
	}
	accounts, err := objects.AccountsOf("default")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	policies := objects.Policies
	if len(policies) != 1 {
		return nil, fmt.Errorf("%w: policy: the file holds %d policies; give one", ErrInvalid, len(policies))
	}
	compiled, outcomes := policy.Compile(policies, policy.Inputs{Namespace: "default", Accounts: accounts})
	if errs := outcomes[0].Errors; len(errs) > 0 {
		lines := make([]string, len(errs))
		for i, e := range errs {
			lines[i] = e.Error()
		}
		return nil, fmt.Errorf("%w: policy %s would be refused:\n  %s", ErrInvalid, policies[0].Name, strings.Join(lines, "\n  "))
	}
	if len(compiled.Policies) != 1 {
		return nil, fmt.Errorf("%w: policy %s does not fit into a plan", ErrInvalid, policies[0].Name)
	}
	return &compiled.Policies[0], nil
}

// asOwn takes the limits of accounts for the policy's own: nobody else is there to share them with. It says so.
func asOwn(p *plan.Policy) (notes []string) {
	for i := range p.Routes {
		route := &p.Routes[i]
		account := route.AccountName()
		if account == "" {
			continue
		}
		watched := len(route.Limits)
		route.Limits = slices.DeleteFunc(route.Limits, func(l plan.Limit) bool { return l.Watch })
		note := fmt.Sprintf("%s: account %s is all this policy's here: what other namespaces take of it, guarantees, lending and borrowing are not simulated.",
			route.Name, account)
		if len(route.Limits) < watched {
			note += " Limits that are still to be learned hold nothing back."
		}
		notes = append(notes, note)
		for j := range route.Limits {
			route.Limits[j].Account, route.Limits[j].MaxGateways = "", 0
		}
		route.Account = ""
	}
	return notes
}

// editsExist finds edits of limits that the policy does not have.
func editsExist(p *plan.Policy, wl *workload.Workload) error {
	for i := range wl.Events {
		if e := wl.Events[i].Edit; e != nil && !hasLimit(p, e.Limit) {
			return fmt.Errorf("%w:\n  events[%d].edit.limit: the policy has no limit %q", workload.ErrInvalid, i, e.Limit)
		}
	}
	return nil
}

func hasLimit(p *plan.Policy, name string) bool {
	for i := range p.Routes {
		for j := range p.Routes[i].Limits {
			if p.Routes[i].Limits[j].Name == name {
				return true
			}
		}
	}
	return false
}
