// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// Words that reasons of ungoverned pods begin with, beside those injection gives.
const (
	reasonCreatedBefore = "CreatedBeforeInjection"
	reasonMissed        = "MissedByWebhook"
	reasonNotInjected   = "NotInjected"
	reasonNotOptedIn    = "NotOptedIn"
	reasonBaseURLByApp  = "BaseURLSetByApp"
	reasonUnknown       = "RoutingUnknown"
	reasonNoImage       = "GatewayImageNotPulled"
	reasonNotStarted    = "GatewayNotStarted"
)

// podView is the policy's pods, judged.
type podView struct {
	counts v1alpha1.GatewayCounts
	// notInjected, notStarted, bypassed and unknown are sorted by name.
	notInjected []judged
	notStarted  []judged
	bypassed    []judged
	unknown     []judged
	// outdated run an older contract.
	outdated []Pod
	// owners are those of all pods, by the pods' names.
	owners map[string]string
}

// judged is a pod and why it is not governed.
type judged struct {
	Pod
	reason string
}

func judgePods(in Inputs, now time.Time) podView {
	pods := slices.Clone(in.Pods)
	slices.SortFunc(pods, func(a, b Pod) int { return strings.Compare(a.Name, b.Name) })
	variables := governedVariables(in)
	firstInjected := oldestInjected(pods)
	called, outdated := seenCalls(in.Figures.Gateways), otherContract(in.Figures.Gateways)
	v := podView{owners: make(map[string]string, len(pods))}
	v.counts.Matching = int32(len(pods))
	for _, p := range pods {
		v.owners[p.Name] = p.Owner
		if !p.Injected {
			v.notInjected = append(v.notInjected, judged{p, whyNotInjected(p, in, firstInjected)})
			continue
		}
		v.counts.Injected++
		if p.Contract == sidecar.ContractVersion && !outdated[p.Name] {
			v.counts.UpToDate++
		} else {
			v.outdated = append(v.outdated, p)
		}
		if p.NoImage {
			v.notStarted = append(v.notStarted, judged{p, reasonNoImage + ": " + pullAdvice})
			continue
		}
		if p.NotStarted != "" {
			v.notStarted = append(v.notStarted, judged{p, reasonNotStarted + ": its container is in " + p.NotStarted + ", so the app waits too, or its calls fail; " +
				"kubectl describe pod and kubectl logs -c " + sidecar.ContainerName + " say why"})
			continue
		}
		if why := bypass(p.Unrouted, variables); why != "" {
			v.bypassed = append(v.bypassed, judged{p, reasonBaseURLByApp + ": " + why})
			continue
		}
		if why := unknownRouting(p.RoutingUnknown, variables); why != "" && !called[p.Name] {
			v.unknown = append(v.unknown, judged{p, reasonUnknown + ": " + why})
			continue
		}
		if in.Compiled != nil {
			v.counts.Governed++
		}
	}
	v.counts.Unknown = int32(len(v.unknown))
	v.countReports(in.Figures.Gateways, pods, now)
	v.counts.Ungoverned = v.name()
	return v
}

// countReports counts the gateways that report, and those of them that see no call though nothing bypasses
// them.
func (v *podView) countReports(gateways []figures.GatewayFigures, pods []Pod, now time.Time) {
	known := make(map[string]bool, len(pods))
	for _, p := range pods {
		known[p.Name] = true
	}
	for _, p := range v.bypassed {
		known[p.Name] = false
	}
	for _, g := range gateways {
		sound, ok := known[g.Pod]
		if !ok {
			continue
		}
		v.counts.Reporting++
		if sound && g.Silent(now, SilentAfter) {
			v.counts.Silent++
		}
	}
}

// name picks at most MaxUngoverned pods, one of each owner first, so that no owner is hidden behind
// another's replicas.
func (v *podView) name() []v1alpha1.UngovernedPod {
	first, more := splitByOwner(slices.Concat(v.notStarted, v.bypassed, v.notInjected, v.unknown))
	picked := slices.Concat(first, more)
	picked = picked[:min(len(picked), MaxUngoverned)]
	slices.SortFunc(picked, func(a, b judged) int { return strings.Compare(a.Name, b.Name) })
	var out []v1alpha1.UngovernedPod
	for _, p := range picked {
		out = append(out, v1alpha1.UngovernedPod{Name: p.Name, Reason: truncate(p.reason, maxReason)})
	}
	return out
}

// splitByOwner separates the first pod of each owner and kind of reason from the others.
func splitByOwner(all []judged) (first, more []judged) {
	seen := map[string]bool{}
	for _, p := range all {
		if key := p.ownerKey(); !seen[key] {
			seen[key] = true
			first = append(first, p)
		} else {
			more = append(more, p)
		}
	}
	return first, more
}

// ownerKey tells owners and reasons apart; pods without an owner are one group.
func (j judged) ownerKey() string {
	word, _, _ := strings.Cut(j.reason, ":")
	return j.Owner + " " + word
}

func oldestInjected(pods []Pod) time.Time {
	var oldest time.Time
	for _, p := range pods {
		if p.Injected && (oldest.IsZero() || p.Created.Before(oldest)) {
			oldest = p.Created
		}
	}
	return oldest
}

// whyNotInjected claims what is known: injection's own word; that a pod older than any injected one was
// there first; that one younger than an injected one was missed; and nothing where nothing was injected, or
// in the same second.
func whyNotInjected(p Pod, in Inputs, firstInjected time.Time) string {
	switch {
	case p.Outcome != "":
		return p.Outcome
	case !p.OptedIn:
		return fmt.Sprintf("%s: kubectl label namespace %s %s=%s, then %s",
			reasonNotOptedIn, in.Namespace, v1alpha1.LabelInject, v1alpha1.InjectEnabled, p.restart())
	case in.WebhookUnseen:
		return reasonNotInjected + ": " + unseenAdvice + p.restart()
	case firstInjected.IsZero() || p.Created.Equal(firstInjected):
		return reasonNotInjected + ": it predates injection, or the webhook was not reached; " + p.restart()
	case p.Created.Before(firstInjected):
		return reasonCreatedBefore + ": " + p.restart()
	}
	return reasonMissed + ": the API server did not reach it, or injection was asked for later; " + p.restart()
}

// pullAdvice and unseenAdvice are what to do about an image that does not come, and about a webhook that is never called.
const (
	pullAdvice = "its node cannot pull the gateway's image, so the app waits too; let the namespace's pods pull it (imagePullSecrets), " +
		"or opt out with the label " + v1alpha1.LabelInject + "=" + v1alpha1.InjectDisabled
	unseenAdvice = "no admission call has been seen of any pod; if those made from now on are missed too, let the control plane reach the webhook's port; "
)

// restart is the command that makes the pod anew.
func (p Pod) restart() string {
	switch {
	case p.OwnerJob:
		return "the next run of " + p.Owner + " is injected"
	case p.Owner != "":
		return "kubectl rollout restart " + p.Owner
	}
	return "delete the pod and create it again"
}

// governedVariables are the variables whose own value in the app keeps its calls from the policy's routes.
func governedVariables(in Inputs) map[string]bool {
	out := map[string]bool{}
	if in.Compiled == nil {
		return out
	}
	for _, r := range in.Compiled.Routes {
		f, ok := dialect.ByName(r.Dialect)
		if !ok {
			continue
		}
		for _, v := range f.BaseURLVariables {
			out[v.Name] = true
		}
	}
	return out
}

// seenCalls are the pods whose gateways had a call for the policy: whatever their variables may be, calls
// come through.
func seenCalls(gateways []figures.GatewayFigures) map[string]bool {
	out := make(map[string]bool, len(gateways))
	for _, g := range gateways {
		if !g.LastPolicyCall.IsZero() {
			out[g.Pod] = true
		}
	}
	return out
}

// otherContract are the pods whose gateways say that they speak another contract than this release's.
func otherContract(gateways []figures.GatewayFigures) map[string]bool {
	out := map[string]bool{}
	for _, g := range gateways {
		if g.Contract != "" && g.Contract != sidecar.ContractVersion {
			out[g.Pod] = true
		}
	}
	return out
}

// bypass says which containers set which of the variables, from the annotation's container=VARIABLE pairs.
func bypass(unrouted string, variables map[string]bool) string {
	return inWords(unrouted, variables, "container %s sets %s itself")
}

// unknownRouting says which containers may set which of the variables.
func unknownRouting(pairs string, variables map[string]bool) string {
	words := inWords(pairs, variables, "container %s may get %s from a source of its own")
	if words == "" {
		return ""
	}
	return words + ", and no call through the gateway is known"
}

func inWords(pairs string, variables map[string]bool, format string) string {
	var parts []string
	for pair := range strings.SplitSeq(pairs, ",") {
		container, variable, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if ok && variables[variable] {
			parts = append(parts, fmt.Sprintf(format, container, variable))
		}
	}
	if len(parts) > 2 {
		parts = append(parts[:2], fmt.Sprintf("and %d more", len(parts)-2))
	}
	return strings.Join(parts, ", ")
}

// govern is what would have one more pod governed: of the pods that are surely not.
func (v podView) govern() string {
	switch {
	case len(v.notStarted) > 0:
		return v.notStarted[0].Name + ": " + v.notStarted[0].reason
	case len(v.bypassed) > 0:
		return v.bypassed[0].Name + ": " + afterWord(v.bypassed[0].reason) + "; remove it from the pod's template."
	case len(v.notInjected) > 0:
		return v.notInjected[0].Name + ": " + v.notInjected[0].reason
	}
	return ""
}
