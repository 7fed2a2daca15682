// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && soak

package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// The loads, by role. A run is short, so that a pod that comes has one soon.
const (
	runSeconds = 15
	longestRun = (runSeconds + 75) * time.Second
)

var soakRuns = map[string]load.Run{
	"steady": {CallsPerMinute: 110, InputTokens: 300, OpenAIPercent: 40, StreamPercent: 50},
	"mortal": {CallsPerMinute: 110, InputTokens: 300, OpenAIPercent: 40, StreamPercent: 80},
	"chat":   {CallsPerMinute: 130, InputTokens: 400, OpenAIPercent: 40, StreamPercent: 60},
	"bulk":   {CallsPerMinute: 8, InputTokens: 6_000, StreamPercent: 50},
}

// results are what became of all calls.
type results struct {
	byRole   map[string]load.Result
	failures []podFailure
	// unknown are calls of pods that went before they said what became of them.
	unknown int64
}

type podFailure struct {
	load.Failure
	pod string
}

// soakLoad has each pod of the tenant run its role's load over and over.
type soakLoad struct {
	s      *soak
	mu     sync.Mutex
	seen   map[types.UID]bool
	closed bool
	all    sync.WaitGroup
}

func newSoakLoad(s *soak) *soakLoad { return &soakLoad{s: s, seen: map[types.UID]bool{}} }

// podsNow lists the tenant's pods.
func (n tenant) podsNow(ctx context.Context) ([]corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, slow)
	defer cancel()
	var list corev1.PodList
	err := api.List(ctx, &list, client.InNamespace(n.name))
	return list.Items, err
}

// run finds pods that are new; while the API server is dead there are none.
func (l *soakLoad) run(ctx context.Context) {
	every(ctx, time.Second, func(ctx context.Context) {
		pods, _ := l.s.livePods(ctx) // asked again in a second
		l.mu.Lock()
		defer l.mu.Unlock()
		for i := range pods {
			if pod := &pods[i]; !l.closed && !l.seen[pod.UID] {
				l.seen[pod.UID] = true
				l.all.Go(func() { l.drive(ctx, pod) })
			}
		}
	})
}

func (l *soakLoad) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

func (l *soakLoad) stopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// wait waits for the last calls.
func (l *soakLoad) wait(limit time.Duration) {
	ended := make(chan struct{})
	go func() { l.all.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(limit):
		l.s.violate("calls are still under way %s after the load", limit)
	}
}

func roleOf(pod string) string {
	if strings.HasPrefix(pod, "chat-") {
		return "chat"
	}
	return pod
}

// drive has one pod make loads until it goes or the soak ends.
func (l *soakLoad) drive(ctx context.Context, pod *corev1.Pod) {
	role := roleOf(pod.Name)
	for ctx.Err() == nil && !l.stopped() {
		run := soakRuns[role]
		run.Name, run.Seconds, run.DrainSeconds = role, runSeconds, 75
		if err := load.Post(ctx, appURL(pod)+"/run", run, nil); err != nil {
			if !l.exists(ctx, pod) {
				return
			}
			time.Sleep(time.Second) // it is not ready yet
			continue
		}
		got := l.await(ctx, pod)
		l.s.file(pod.Name, role, got)
		if got.State != load.Done {
			return
		}
	}
}

// await asks for the result until the load is over, or nobody answers any more: then the last answer counts.
func (l *soakLoad) await(ctx context.Context, pod *corev1.Pod) (last load.Result) {
	const silence = 15 * time.Second
	for heard := time.Now(); ctx.Err() == nil && time.Since(heard) < silence; time.Sleep(300 * time.Millisecond) {
		var got load.Result
		if err := load.Get(ctx, appURL(pod)+"/result", &got); err != nil {
			continue
		}
		heard, last = time.Now(), got
		if got.State == load.Done {
			return got
		}
	}
	return last
}

// exists holds unless the pod is surely gone or going.
func (l *soakLoad) exists(ctx context.Context, pod *corev1.Pod) bool {
	now, err := l.s.u.podsNow(ctx)
	return err != nil || slices.ContainsFunc(now, func(p corev1.Pod) bool { return p.UID == pod.UID && p.DeletionTimestamp == nil })
}

// file adds a result to the books.
func (s *soak) file(pod, role string, r load.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results.byRole == nil {
		s.results.byRole = map[string]load.Result{}
	}
	s.results.byRole[role] = load.Merge([]load.Result{s.results.byRole[role], r})
	s.results.unknown += r.Calls - r.OK - r.FailedCalls()
	for _, f := range r.Failures {
		s.results.failures = append(s.results.failures, podFailure{f, pod})
	}
}

// total is what became of the calls of all roles.
func (r *results) total() load.Result { return load.Merge(slices.Collect(maps.Values(r.byRole))) }
