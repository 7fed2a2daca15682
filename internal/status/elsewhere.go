// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// addElsewhere adds what became of calls that were not made in time: where the policy has them made elsewhere or later,
// and where any were.
func (v providerView) addElsewhere(s *v1alpha1.ProviderStatus) {
	idle := s.State == v1alpha1.ProviderIdle
	if v.seen.FailedOver > 0 || !idle && v.route.Throttle.FailoverTo != "" {
		s.FailedOver = &v.seen.FailedOver
	}
	if v.seen.Deferred+v.seen.DeferredWaiting+v.seen.DeadLetters > 0 || !idle && v.route.Deferred != nil {
		s.Deferred, s.DeferredWaiting, s.DeadLetters = &v.seen.Deferred, &v.seen.DeferredWaiting, &v.seen.DeadLetters
	}
}

// failedOverWords say where calls went that the provider told to wait too long.
func (v providerView) failedOverWords() string {
	if v.seen.FailedOver == 0 {
		return ""
	}
	to := v.route.Throttle.FailoverTo
	if to == "" { // an edit took it away
		to = "another provider"
	}
	return fmt.Sprintf("%s went to %s instead.", count(int(v.seen.FailedOver), "call"), to)
}

// deadLettersAdvice names the provider with most deferred calls that were given up.
func deadLettersAdvice(views []providerView) string {
	var most *providerView
	for i := range views {
		if views[i].seen.DeadLetters > 0 && (most == nil || views[i].seen.DeadLetters > most.seen.DeadLetters) {
			most = &views[i]
		}
	}
	if most == nil {
		return ""
	}
	were := "were"
	if most.seen.DeadLetters == 1 {
		were = "was"
	}
	return fmt.Sprintf("%s of %s %s given up: kubectl exec POD -c %s -- %s deferred list says why; replay or drop each there.",
		count(int(most.seen.DeadLetters), "deferred call"), most.name, were, sidecar.ContainerName, sidecar.Binary)
}
