// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/test/soak/referee"
)

// happening is one of the things that happen. It returns the pod whose gateway died, if one did, when everything
// that it killed is back.
type happening struct {
	what  string
	loses bool // calls under way may be lost: those of the pod, or of all pods if it names none
	do    func(*soak, *testing.T) (pod string)
}

// edited is what an edit is called.
const edited = "edit"

// happenings are what a deck has in it, shuffled anew each time.
var happenings = []happening{
	{"leader killed", false, (*soak).killLeader},
	{"all managers killed", false, (*soak).killManagers},
	{"API server killed", false, func(s *soak, t *testing.T) string { return s.killCluster(t, apiServer) }},
	{"etcd killed", false, func(s *soak, t *testing.T) string { return s.killCluster(t, etcd) }},
	{"kubelet killed", false, func(s *soak, t *testing.T) string { return s.killCluster(t, kubelet) }},
	{"gateway killed", true, (*soak).killGateway},
	{"provider killed", true, (*soak).killProvider},
	{"rollout", false, (*soak).rollOut},
	{edited, false, (*soak).edit},
	{edited, false, (*soak).edit},
	{edited, false, (*soak).edit},
	{edited, false, (*soak).edit},
}

// Times between two things that happen, and how soon status has to tell the truth after one.
const (
	calm        = 4 * time.Second
	truthWithin = time.Minute
)

// deal makes the next thing of the deck happen, and waits until status tells the truth.
func (s *soak) deal(t *testing.T) {
	t.Helper()
	if len(s.deck) == 0 {
		s.deck = slices.Clone(happenings)
		s.chance.Shuffle(len(s.deck), func(i, j int) { s.deck[i], s.deck[j] = s.deck[j], s.deck[i] })
	}
	h := s.deck[0]
	s.deck = s.deck[1:]
	time.Sleep(calm + time.Duration(s.chance.Int64N(int64(calm))))
	now := happened{what: h.what, loses: h.loses, from: time.Now()}
	now.pod = h.do(s, t)
	now.to = time.Now()
	now.truth, _ = s.within(t.Context(), truthWithin, "status after "+h.what, s.statusIsTrue)
	s.mu.Lock()
	s.happened = append(s.happened, now)
	s.mu.Unlock()
	t.Logf("%s %s: back after %s, status true after %s", now.from.UTC().Format("15:04:05"), h.what,
		now.to.Sub(now.from).Round(100*time.Millisecond), now.truth.Round(100*time.Millisecond))
}

// statusIsTrue holds while status says that all pods are governed, that all gateways run the policy's newest
// generation, and that the budget is shared.
func (s *soak) statusIsTrue(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	p, err := s.u.policy(ctx)
	if err != nil {
		return err
	}
	return all(s.allGoverned(), acknowledged(p.Generation),
		condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllGoverned),
		condition(v1alpha1.ConditionDegraded, metav1.ConditionFalse, v1alpha1.ReasonConnected))(&p.Status)
}

// killCluster kills a part of the cluster for some seconds.
func (s *soak) killCluster(t *testing.T, part string) string {
	t.Helper()
	killPart(t, part)
	time.Sleep(3*time.Second + time.Duration(s.chance.Int64N(int64(7*time.Second))))
	startPart(t, part)
	return ""
}

// killLeader kills the leading manager's process, so that it gives nothing back, and replaces its pod.
func (s *soak) killLeader(t *testing.T) string {
	t.Helper()
	leader, err := leaderPod(t.Context())
	if err != nil || leader == "" {
		s.violate("nobody leads: %v", err)
		return ""
	}
	s.crashManagers(t, func(pod *corev1.Pod) bool { return pod.Name == leader })
	return ""
}

func (s *soak) killManagers(t *testing.T) string {
	t.Helper()
	s.crashManagers(t, func(*corev1.Pod) bool { return true })
	return ""
}

// leaseEnds is when another may lead after a leader that gave nothing back.
const leaseEnds = 90 * time.Second

// crashManagers kills managers by SIGKILL, replaces their pods, so that no restart is held up for crashes before it,
// and returns when a manager leads that runs.
func (s *soak) crashManagers(t *testing.T, which func(*corev1.Pod) bool) {
	t.Helper()
	all, err := managers(t.Context())
	if err != nil {
		s.violate("managers: %v", err)
		return
	}
	var gone []string
	for i := range all {
		if pod := &all[i]; pod.DeletionTimestamp == nil && which(pod) && len(pod.Status.ContainerStatuses) > 0 {
			killContainer(t, pod.Status.ContainerStatuses[0])
			gone = append(gone, pod.Name)
		}
	}
	for i := range all {
		if slices.Contains(gone, all[i].Name) {
			if err := api.Delete(t.Context(), &all[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
				s.violate("%v", err)
			}
		}
	}
	s.within(t.Context(), leaseEnds+time.Minute, "a manager leads", func(ctx context.Context) error {
		leader, err := leaderPod(ctx)
		if err != nil || leader == "" || slices.Contains(gone, leader) {
			return fmt.Errorf("%q leads: %w", leader, err)
		}
		return nil
	})
}

// killGateway kills the gateway of any pod but the steady one, whose memory is watched.
func (s *soak) killGateway(t *testing.T) string {
	t.Helper()
	all, err := s.livePods(t.Context())
	all = slices.DeleteFunc(all, func(p corev1.Pod) bool { return p.Name == "steady" || !injected(&p) })
	if err != nil || len(all) == 0 {
		s.violate("no gateway to kill: %v", err)
		return ""
	}
	pod := &all[s.chance.IntN(len(all))]
	old := gatewayOf(t, pod)
	if old.State.Running == nil {
		s.violate("the gateway of %s does not run", pod.Name)
		return pod.Name
	}
	killContainer(t, old)
	s.within(t.Context(), 2*time.Minute, "the gateway restarts", func(ctx context.Context) error {
		now, err := s.u.pod(ctx, pod.Name)
		if err != nil {
			return err
		}
		if g := gatewayOf(t, now); g.ContainerID == old.ContainerID || g.State.Running == nil {
			return fmt.Errorf("gateway %+v", g.State)
		}
		return nil
	})
	return pod.Name
}

// killProvider kills the provider's process, and replaces its pod.
func (s *soak) killProvider(t *testing.T) string {
	t.Helper()
	s.arrivals.nextLife(t.Context(), func() {
		pod := theProvider(t)
		killContainer(t, pod.Status.ContainerStatuses[0])
		if err := api.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			s.violate("%v", err)
		}
	})
	s.within(t.Context(), time.Minute, "the provider is back", func(ctx context.Context) error {
		return get(ctx, s.arrivals.admin+"/_fake/healthz", nil)
	})
	return ""
}

// rollOut replaces the chat pods, one after another, while they call.
func (s *soak) rollOut(t *testing.T) string {
	t.Helper()
	if out, err := kubectl(t, "", "rollout", "restart", "deployment/chat", "-n", s.u.name); err != nil {
		s.violate("rollout: %v %s", err, out)
	}
	if out, err := kubectl(t, "", "rollout", "status", "deployment/chat", "-n", s.u.name, "--timeout=150s"); err != nil {
		s.violate("rollout: %v %s", err, out)
	}
	// The old pods drain.
	s.within(t.Context(), time.Minute, "the old pods end", func(ctx context.Context) error {
		all, err := s.u.podsNow(ctx)
		if err != nil || len(all) != 5 {
			return errors.Join(err, fmt.Errorf("%d pods", len(all)))
		}
		return nil
	})
	return ""
}

// edit makes the next edit: amounts down and up, a lane that comes and goes, a field that changes no level.
func (s *soak) edit(t *testing.T) string {
	t.Helper()
	percent := s.edits[len(s.edits)-1].Percent
	switch s.turn % 4 {
	case 0:
		percent = 70
	case 2:
		percent = 100
	}
	if percent != s.edits[len(s.edits)-1].Percent {
		s.mu.Lock()
		s.edits = append(s.edits, referee.Edit{At: time.Now(), Percent: percent})
		s.mu.Unlock()
	}
	s.apply(t, "", s.accountYAML(percent))
	s.apply(t, s.u.name, s.policyYAML(percent, soakDeadline+s.turn%4, s.turn%4 == 1 || s.turn%4 == 2))
	s.turn++
	return ""
}

func (s *soak) apply(t *testing.T, namespace, document string) {
	t.Helper()
	args := []string{"apply", "-f", "-"}
	if namespace != "" {
		args = append(args, "-n", namespace)
	}
	var said string
	s.within(t.Context(), 30*time.Second, "kubectl apply", func(context.Context) error {
		out, err := kubectl(t, document, args...)
		if said = out; err != nil {
			return fmt.Errorf("%w: %s", err, said)
		}
		return nil
	})
}
