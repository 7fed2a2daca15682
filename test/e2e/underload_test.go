// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/test/demo/load"
)

// What the apps of an underLoad may send together; each of them asks for two fifths of it.
const (
	loadPerMinute = 600
	loadBurst     = 20
)

// underLoad is a namespace with two apps that call while something dies.
type underLoad struct {
	tenant
	apps []*corev1.Pod
	// edits of its policy so far.
	edits int
}

func newUnderLoad(t *testing.T) *underLoad {
	t.Helper()
	u := &underLoad{tenant: newTenant(t)}
	u.apply(t, requestsPolicy(loadPerMinute, loadBurst))
	u.apps = []*corev1.Pod{u.startApp(t, "first"), u.startApp(t, "second")}
	u.eventually(t, time.Minute, "both report", pods(2, 2, 2, 2))
	return u
}

// during runs both apps' loads, does what it is given three seconds later, and returns what became of the calls.
func (u *underLoad) during(t *testing.T, seconds int64, do func()) []load.Result {
	t.Helper()
	for _, app := range u.apps {
		run := load.Run{
			Name: t.Name(), Seconds: seconds, CallsPerMinute: loadPerMinute * 2 / 5, InputTokens: 50,
			StreamPercent: 50, OpenAIPercent: 0, DrainSeconds: 90,
		}
		if err := post(t.Context(), appURL(app)+"/run", run, nil); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(3 * time.Second)
	do()
	results := make([]load.Result, len(u.apps))
	for i, app := range u.apps {
		results[i] = loadEnded(t, app)
		t.Logf("%s: %d calls, %d ended well, failed %v, longest wait %.0f ms", app.Name, results[i].Calls, results[i].OK,
			results[i].Failed, load.Percentile(results[i].WaitsMillis, 1))
	}
	return results
}

// mustLoseNothing fails unless each call of an app ended well.
func mustLoseNothing(t *testing.T, r load.Result) {
	t.Helper()
	if r.FailedCalls() != 0 || r.Skipped != 0 || r.OK != r.Calls || r.Calls == 0 {
		t.Errorf("%d calls, %d ended well, %d skipped, failed: %+v", r.Calls, r.OK, r.Skipped, r.Failures)
	}
}

// mustLoseOnly fails unless each call that failed was under way at some time between from and to, and none was
// taken for whole that was not.
func mustLoseOnly(t *testing.T, r load.Result, from, to time.Time) {
	t.Helper()
	if r.Skipped != 0 || r.OK+r.FailedCalls() != r.Calls || r.OK == 0 {
		t.Errorf("%d calls, %d ended well, %d failed, %d skipped", r.Calls, r.OK, r.FailedCalls(), r.Skipped)
	}
	for _, f := range r.Failures {
		if f.StartedUnixMillis > to.UnixMilli() || f.EndedUnixMillis < from.UnixMilli() || f.Kind == load.Corrupt {
			t.Errorf("a call from %d ms after the kill to %d ms after the return failed: %s: %s",
				f.StartedUnixMillis-from.UnixMilli(), f.EndedUnixMillis-to.UnixMilli(), f.Kind, f.Message)
		}
	}
}

// mustTellTheTruth edits the policy, and waits until status says of the edit, and of the pods, what is true.
func (u *underLoad) mustTellTheTruth(t *testing.T) {
	t.Helper()
	u.edits++
	var edited int64
	took := within(t, time.Minute, "status tells the truth", func(ctx context.Context) error {
		if edited == 0 {
			generation, err := u.editDeadline(ctx, 90+u.edits)
			if err != nil {
				return err
			}
			edited = generation
		}
		p, err := u.policy(ctx)
		if err != nil {
			return err
		}
		return all(pods(2, 2, 2, 2), acknowledged(edited),
			condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllGoverned),
			condition(v1alpha1.ConditionDegraded, metav1.ConditionFalse, v1alpha1.ReasonConnected))(&p.Status)
	})
	t.Logf("status told the truth, of an edit too, after %s", took.Round(100*time.Millisecond))
}

// editDeadline changes the first provider's deadline, and returns the policy's new generation.
func (u *underLoad) editDeadline(ctx context.Context, seconds int) (int64, error) {
	p, err := u.policy(ctx)
	if err != nil {
		return 0, err
	}
	p.Spec.Providers[0].Deadline = &v1alpha1.Deadline{Default: v1alpha1.Duration(fmt.Sprintf("%ds", seconds))}
	if err := api.Update(ctx, p); err != nil {
		return 0, err
	}
	if p.Generation == 0 {
		return 0, errors.New("no generation")
	}
	return p.Generation, nil
}

// acknowledged holds once every gateway runs this generation.
func acknowledged(generation int64) statusCheck {
	return func(s *v1alpha1.RateLimitPolicyStatus) error {
		c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionProgrammed)
		if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != generation || s.ObservedGeneration != generation {
			return fmt.Errorf("generation %d observed, Programmed %+v; want generation %d acknowledged", s.ObservedGeneration, c, generation)
		}
		return nil
	}
}

// mustArriveOnce fails unless each call arrived once since the last look, and never more at once than is allowed.
func (u *underLoad) mustArriveOnce(t *testing.T, since int, results []load.Result) {
	t.Helper()
	arrivals := u.arrivals(t)
	if got, want := int64(len(arrivals)-since), load.Merge(results).OK; got != want {
		t.Errorf("%d calls arrived, %d ended well", got, want)
	}
	mustStayBelow(t, arrivals, loadPerMinute/60.0, loadBurst)
}

// slowStreams has the provider take so long for each piece of the tenant's streams.
func (u *underLoad) slowStreams(t *testing.T, piece time.Duration) {
	t.Helper()
	yes := true
	fault := fakeprovider.Fault{
		Kind: fakeprovider.FaultSlow, Count: -1, Key: fakeprovider.KeyHash(u.key), Stream: &yes,
		FirstByteMillis: 100, ChunkMillis: piece.Milliseconds(),
	}
	if err := post(t.Context(), providerAdmin(t)+"/_fake/faults", fault, nil); err != nil {
		t.Fatal(err)
	}
}
