// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/certs"
)

// TestD8RotationBreaksNoCall creates ten pods a second while authorities and leaves are replaced, through
// two replicas and with a handshake for each pod.
//
// Fault D8: Rotating the webhook's certificates, or losing their leader, made calls fail.
// Headgate: Old and new CA overlap, every replica signs for itself under the one CA, an expired one is issued again,
// and the time that is left is a metric.
func TestD8RotationBreaksNoCall(t *testing.T) {
	namespace := env.Namespace(t, optedIn)
	complaints := tlsLog.String()
	issuers := map[string]bool{}
	var wg sync.WaitGroup
	const steps, podsPerStep = 25, 5
	for step := range steps {
		ahead.Add(int64(time.Minute))
		for i := range podsPerStep {
			wg.Go(func() {
				pod := newPod(namespace, fmt.Sprintf("pod-%d-%d", step, i))
				if err := env.Client.Create(t.Context(), pod); err != nil {
					t.Errorf("create: %v", err)
				} else if !isInjected(pod) {
					t.Errorf("%s is not injected", pod.Name)
				}
			})
			time.Sleep(100 * time.Millisecond)
		}
		// The clock goes on once all have done what was due, which they do beside the calls, and once the API server has
		// sent these: of its overlap an authority needs so much, however slow the machine is.
		settle(t)
		wg.Wait()
		for _, r := range replicas {
			issuers[issuer(t, r)] = true
		}
	}
	if fresh := strings.TrimPrefix(tlsLog.String(), complaints); fresh != "" {
		t.Errorf("the servers complain:\n%s", fresh)
	}
	if len(issuers) < 3 {
		t.Errorf("leaves of %d authorities were served, want at least two rotations", len(issuers))
	}
	if got := len(calls.in(namespace)); got != steps*podsPerStep {
		t.Errorf("%d calls for %d pods", got, steps*podsPerStep)
	}
}

// settle has the leader and then every replica do what is due.
func settle(t *testing.T) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		err = replicas[0].Issuer().Step(t.Context())
		for _, r := range replicas {
			err = errors.Join(err, r.Step(t.Context()))
		}
		if err == nil {
			return
		}
	}
	t.Fatalf("the certificates do not settle: %v", err)
}

func issuer(t *testing.T, r *certs.Source) string {
	t.Helper()
	leaf, err := r.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return leaf.Leaf.Issuer.CommonName
}
