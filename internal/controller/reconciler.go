// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/status"
)

// FieldOwner owns every field this package applies.
const FieldOwner = "headgate-controller"

// schemaRetry is when a namespace is looked at again whose policies lack fields that the API server drops.
const schemaRetry = 10 * time.Second

// storeRetry is when a namespace is looked at again whose ConfigMaps the API server refuses. What refuses them need not be seen.
const storeRetry = 30 * time.Second

// learning is how long after a start silence says nothing: gateways come back within a few of their
// reconnection intervals.
const learning = 30 * time.Second

// Plans takes each namespace's plan, to be pushed to its gateways.
type Plans interface {
	// SetPlan with no bytes drops the namespace's plan.
	SetPlan(namespace string, revision int64, json []byte)
}

// Reports are what the gateways say.
type Reports interface {
	// Policy returns a policy's figures; zero when nothing is known.
	Policy(namespace, policy string, now time.Time) figures.PolicyFigures
	// Rejections are the gateways of the namespace that keep an older plan than they were given.
	Rejections(namespace string) []status.Rejection
	// Changed receives when gateways came, went or acknowledged a plan; TakeChanged says in which namespaces.
	Changed() <-chan struct{}
	TakeChanged() []string
}

// Accounts takes all accounts, whenever one of them is another.
type Accounts interface {
	// SetAccounts owns what it is given.
	SetAccounts(accounts []ledger.Account)
}

// Budgets are the pools behind accounts and policies.
type Budgets interface {
	// Budgets are the newest figures, which nobody changes any more.
	Budgets() ledger.Figures
}

// Store is where budgets are drawn from that several clusters share.
type Store interface {
	// StoreLost says since when it does not answer.
	StoreLost() (since time.Time, lost bool)
}

// StoreFunc is a Store of one function.
type StoreFunc func() (since time.Time, lost bool)

// StoreLost calls it.
func (f StoreFunc) StoreLost() (since time.Time, lost bool) { return f() }

// Options are what a Reconciler needs.
type Options struct {
	// Client reads from caches, and reads its own writes.
	Client client.Client
	// Env reads the ConfigMaps of base-URL variables, which have a cache of their own.
	Env client.Reader
	// Live reads from the API server; nil is the manager's, and Setup sets it.
	Live    client.Reader
	Plans   Plans
	Reports Reports
	// Accounts takes the ProviderAccounts, and Budgets tells what was made of them; nil where nobody shares budgets.
	Accounts Accounts
	Budgets  Budgets
	// Store tells whether the store that budgets are drawn from answers; nil where none is used.
	Store Store
	// Recorder writes Events.
	Recorder events.EventRecorder
	// CoordinatorCA is the PEM bundle that verifies the coordinator.
	CoordinatorCA func() []byte
	// ProviderCA is an extra PEM bundle for TLS to providers, or empty.
	ProviderCA string
	// Schema says what the API server drops of policies; nil asks nobody, and Setup makes one.
	Schema Schema
	// Now is the clock.
	Now func() time.Time
}

// Schema are the types that the API server serves.
type Schema interface {
	// Missing are the fields that this version reads and the server drops.
	Missing() ([]string, error)
}

// Reconciler keeps namespaces in step.
type Reconciler struct {
	Options
	namespaces *namespaces
	pods       *podCounts
	accounts   *accountBook
	touched    *touchedAccounts
	started    time.Time
	// called: some pod shows that the webhook was called for it.
	called atomic.Bool
}

// New returns a reconciler; it listens to reports from now on.
func New(opts Options) *Reconciler {
	return &Reconciler{
		Options: opts, namespaces: newNamespaces(), started: opts.Now(),
		accounts: newAccountBook(opts.Now()), touched: newTouchedAccounts(),
		pods: &podCounts{counts: map[string]map[string]v1alpha1.GatewayCounts{}},
	}
}

// Reconcile keeps the namespace that req names in step.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (result reconcile.Result, err error) {
	state := r.namespaces.lock(req.Name)
	defer state.unlock()

	seen, err := r.observe(ctx, req.Name)
	if err != nil {
		return result, err
	}
	if seen.gone() {
		r.Plans.SetPlan(req.Name, 0, nil)
		r.pods.put(req.Name, nil)
		r.accounts.put(req.Name, &plan.Plan{}, nil, nil, r.Now())
		r.namespaces.forget(state)
		return result, nil
	}
	decided, err := r.decide(seen, state)
	if err != nil {
		return result, err
	}
	state.decided = decided
	r.noteAccounts(seen, decided)
	defer func() {
		conflict, statusErr := r.writeStatuses(ctx, state, seen.policies)
		err = errors.Join(err, statusErr)
		result = again(len(seen.dropped) > 0, state.refused != "", conflict, err)
	}()
	return result, r.act(ctx, seen, state)
}

// again says when a namespace is looked at next, whatever happens. After an error the queue says it.
func again(dropped, refused, conflict bool, err error) (result reconcile.Result) {
	switch {
	case err != nil:
	case conflict:
		result.RequeueAfter = time.Second
	case dropped:
		result.RequeueAfter = schemaRetry
	case refused:
		result.RequeueAfter = storeRetry
	}
	return result
}

// act applies what was decided and hands the plan to the gateways. The push does not wait for a failing
// API server: the stream is what makes an edit quick.
func (r *Reconciler) act(ctx context.Context, seen *observed, state *namespace) error {
	if seen.needsPlan() || ours(seen.planObject) {
		r.Plans.SetPlan(seen.namespace, state.decided.plan.Revision, state.decided.json)
	}
	planErr := ignoreTerminating(r.applyPlan(ctx, seen, state))
	state.unstored = planErr != nil
	return state.noteRefused(ctx, planErr, ignoreTerminating(r.applyEnv(ctx, seen)))
}

// ignoreTerminating: nothing can be created in a namespace that is going, and nothing need be.
func ignoreTerminating(err error) error {
	if apierrors.HasStatusCause(err, "NamespaceTerminating") {
		return nil
	}
	return err
}
