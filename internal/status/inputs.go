// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Inputs are all that a policy's status is made of.
type Inputs struct {
	Namespace  string
	Name       string
	Generation int64
	// Mode and Providers are the spec's, with defaults; also of a policy that does not compile.
	Mode      v1alpha1.Mode
	Providers []string
	// Accepted is the outcome of compiling it.
	Accepted Outcome
	// Compiled is the policy in the plan: this generation of it, or, where that is invalid, the last good
	// one. Nil when it is not in the plan.
	Compiled *plan.Policy
	// PlanRevision is the plan's that gateways should acknowledge.
	PlanRevision int64
	// Pods that the policy is meant for: its selector holds, no stronger policy has all of its routes, and
	// nobody opted the pod out.
	Pods []Pod
	// Figures and Rejections come from the gateways' reports.
	Figures    figures.PolicyFigures
	Rejections []Rejection
	// Budgets are what the coordinator says of the policy's routes, by provider.
	Budgets map[string]ledger.RouteFigures
	// Guaranteed is the part of each account, in percent, that each of the namespace's routes on it is sure of, by the
	// account's name.
	Guaranteed map[string]float64
	// StoreLost is since when the store that budgets are drawn from does not answer; zero while it does, or none is used.
	StoreLost time.Time
	// WebhookUnseen says that no pod of any policy was ever injected, nor told why not: as far as is known the API server
	// has called the webhook for none.
	WebhookUnseen bool
	// NotStored is why the namespace's ConfigMaps are not written, which the API server refuses; empty if they are.
	NotStored string
	// Learning says that this process has not listened for long enough to conclude anything from silence.
	Learning bool
	// Raised are the reasons of conditions that no field of status shows, as the last Result had them.
	Raised []string
}

// Outcome is a reason of the condition Accepted and its message.
type Outcome struct {
	Reason  string
	Message string
}

// inPlan reports whether gateways can run this generation of the policy.
func (o Outcome) inPlan() bool {
	return o.Reason == v1alpha1.ReasonValid || o.Reason == v1alpha1.ReasonOverridden
}

// ofAccount reports whether only an account that the policy refers to keeps it from being accepted.
func (o Outcome) ofAccount() bool {
	return o.Reason == v1alpha1.ReasonAccountNotFound || o.Reason == v1alpha1.ReasonAccountNotAllowed
}

// Pod is what status needs of a pod.
type Pod struct {
	Name string
	UID  string
	// Owner is what a restart command names, "deployment/support"; OwnerJob marks one that cannot be
	// restarted in place. Both may be empty.
	Owner    string
	OwnerJob bool
	Created  time.Time
	// OptedIn says that the pod's or the namespace's label asks for injection.
	OptedIn bool
	// Injected says that the pod has the gateway's container; Contract is the contract it was made by.
	Injected bool
	Contract string
	// NoImage says that the node cannot get the image of the pod's gateway.
	NoImage bool
	// NotStarted is the kubelet's word for another reason why the gateway's container does not come up.
	NotStarted string
	// Outcome, Unrouted and RoutingUnknown are the annotations that injection left.
	Outcome        string
	Unrouted       string
	RoutingUnknown string
}

// Rejection is a gateway that keeps an older plan.
type Rejection struct {
	Pod      string
	Revision int64
	Message  string
}

// Event is a warning about a transition.
type Event struct {
	Reason  string
	Message string
	// Pod is the one it is about, if it is about one.
	Pod string
}

// Result is a new status, what to tell, and what to hand back as Raised.
type Result struct {
	Status v1alpha1.RateLimitPolicyStatus
	Events []Event
	Raised []string
}

// How long things last before they are said.
const (
	// DisconnectedAfter is the silence of every gateway that counts as disconnected.
	DisconnectedAfter = 5 * time.Minute
	// SilentAfter is a gateway's time without a call.
	SilentAfter = time.Hour
)

// Bounds on what a status holds.
const (
	MaxUngoverned = 10
	MaxUsedBy     = 3
	// MaxBytes bounds the JSON of a status.
	MaxBytes = 50 << 10

	maxReason   = 256
	maxNextStep = 512
	maxMessage  = 1024
)
