// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/ledger"
)

func stateOf(epoch uint64) ledger.State {
	return ledger.State{
		Version: ledger.StateVersion, Epoch: epoch, Sequence: 3, Usual: []byte{1, 2, 3}, Origin: "here",
		Pools: []ledger.PoolState{{Account: "acme", Budgets: []ledger.BudgetState{{Name: "tokens", Debt: 2, Outstanding: 700}}}},
	}.Sealed()
}

func budgets(content ...string) *corev1.ConfigMap {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: BudgetsConfigMap}}
	if len(content) > 0 {
		m.Data = map[string]string{BudgetsKey: content[0]}
	}
	return m
}

func storeOver(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) *states {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	return newStates(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build(), "ns")
}

func loaded(t *testing.T, s *states) ledger.State {
	t.Helper()
	state, found, err := newStates(s.client, "ns").Load(t.Context())
	if err != nil || !found {
		t.Fatalf("loaded %v, %v", found, err)
	}
	return state
}

func TestTheNextLeaderFindsTheState(t *testing.T) {
	s := storeOver(t, interceptor.Funcs{})
	if _, found, err := s.Load(t.Context()); found || err != nil {
		t.Fatalf("before anything is stored: %v, %v", found, err)
	}
	for epoch := range uint64(3) {
		if err := s.Store(t.Context(), stateOf(epoch+1)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stateOf(epoch+1), loaded(t, s)); diff != "" {
			t.Errorf("(-stored +found)\n%s", diff)
		}
	}
}

// What cannot be read is there all the same: the leader that finds it is not the first, and does not ask again.
func TestADamagedStateIsSaidToBeDamaged(t *testing.T) {
	for name, m := range map[string]*corev1.ConfigMap{
		"empty":     budgets(),
		"no JSON":   budgets("{"),
		"no object": budgets(`["a"]`),
		"too large": budgets(`{"sum":"` + strings.Repeat("x", ledger.MaxStateBytes) + `"}`),
	} {
		s := storeOver(t, interceptor.Funcs{}, m)
		if state, found, err := s.Load(t.Context()); !found || !errors.Is(err, coordinator.ErrState) || state.Epoch != 0 {
			t.Errorf("%s: %+v, %v, %v", name, state, found, err)
		}
		if err := s.Store(t.Context(), stateOf(7)); err != nil || loaded(t, s).Epoch != 7 {
			t.Errorf("%s: it is not replaced: %v", name, err)
		}
	}
}

func TestStateSurvivesEditsAndDeletion(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, c client.Client){
		"deleted": func(t *testing.T, c client.Client) {
			t.Helper()
			if err := c.Delete(t.Context(), budgets()); err != nil {
				t.Fatal(err)
			}
		},
		"edited": func(t *testing.T, c client.Client) {
			t.Helper()
			if err := c.Patch(t.Context(), budgets(), client.RawPatch("application/merge-patch+json", []byte(`{"data":{"state.json":"?"}}`))); err != nil {
				t.Fatal(err)
			}
		},
		"labelled": func(t *testing.T, c client.Client) {
			t.Helper()
			if err := c.Patch(t.Context(), budgets(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := storeOver(t, interceptor.Funcs{})
			if err := s.Store(t.Context(), stateOf(1)); err != nil {
				t.Fatal(err)
			}
			spoil(t, s.client)
			if err := s.Store(t.Context(), stateOf(2)); err != nil || loaded(t, s).Epoch != 2 {
				t.Errorf("stored: %v", err)
			}
		})
	}
}

// A leader that is late does not write over the next one's; a leader that knows nothing of an older state does.
func TestALaterLeadersStateStays(t *testing.T) {
	s := storeOver(t, interceptor.Funcs{})
	if err := s.Store(t.Context(), stateOf(5)); err != nil {
		t.Fatal(err)
	}
	next := newStates(s.client, "ns")
	if err := next.Store(t.Context(), stateOf(6)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Store(t.Context(), stateOf(5)); !errors.Is(err, errDeposed) || loaded(t, s).Epoch != 6 {
			t.Errorf("the older leader's write: %v", err)
		}
	}
}

// What no leader of this installation wrote keeps none from storing its own, however late it says that it is; what a later
// version wrote stays.
func TestAForeignOrDamagedStateIsReplaced(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(s *ledger.State)
		seal  bool
		stays bool
	}{
		"damaged":      {func(s *ledger.State) { s.Epoch = 1 << 63 }, false, false},
		"foreign":      {func(s *ledger.State) { s.Origin = "there" }, true, false},
		"unsealed":     {func(s *ledger.State) { s.Sum = "" }, false, false},
		"of no format": {func(s *ledger.State) { s.Version = 0 }, true, false},
		"to come":      {func(s *ledger.State) { s.Version = ledger.StateVersion + 1 }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			there := stateOf(1000)
			tc.edit(&there)
			if tc.seal {
				there = there.Sealed()
			}
			content, err := json.Marshal(there)
			if err != nil {
				t.Fatal(err)
			}
			s := storeOver(t, interceptor.Funcs{}, budgets(string(content)))
			err = s.Store(t.Context(), stateOf(2))
			if stays := errors.Is(err, errDeposed); stays != tc.stays || !stays && (err != nil || loaded(t, s).Epoch != 2) {
				t.Errorf("stored: %v", err)
			}
		})
	}
}

func TestAStateThatCannotBeWrittenIsAnError(t *testing.T) {
	down := errors.New("the API server is down")
	writes := 0
	funcs := interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			writes++
			return down
		},
	}
	if err := storeOver(t, funcs).Store(t.Context(), stateOf(1)); !errors.Is(err, down) || writes != 1 {
		t.Errorf("%v after %d writes", err, writes)
	}
	funcs = interceptor.Funcs{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
		return down
	}}
	s := storeOver(t, funcs, budgets("{}"))
	if _, _, err := s.Load(t.Context()); !errors.Is(err, down) || errors.Is(err, coordinator.ErrState) {
		t.Errorf("loading: %v", err)
	}
	if err := s.Store(t.Context(), stateOf(1)); !errors.Is(err, down) {
		t.Errorf("storing: %v", err)
	}
	always := func() error {
		writes++
		return apierrors.NewConflict(corev1.Resource("configmaps"), BudgetsConfigMap, errors.New("always"))
	}
	writes = 0
	s = storeOver(t, interceptor.Funcs{Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return always() }}, budgets("{}"))
	if err := s.Store(t.Context(), stateOf(1)); !apierrors.IsConflict(err) || writes != 3 {
		t.Errorf("%v after %d writes", err, writes)
	}
}

// Whatever others put beside the state takes its room: an object holds a megabyte, and a leader whose state is not stored grants
// nothing.
func TestOthersTakeNoRoomFromTheState(t *testing.T) {
	m := budgets("{}")
	m.Data["notes.txt"], m.BinaryData = strings.Repeat("x", 1<<19), map[string][]byte{"notes.bin": make([]byte, 1<<19)}
	s := storeOver(t, interceptor.Funcs{}, m)
	if err := s.Store(t.Context(), stateOf(1)); err != nil {
		t.Fatal(err)
	}
	var there corev1.ConfigMap
	if err := s.client.Get(t.Context(), s.key, &there); err != nil || len(there.Data) != 1 || len(there.BinaryData) != 0 {
		t.Errorf("beside the state there are %d keys and %d of bytes, %v", len(there.Data)-1, len(there.BinaryData), err)
	}
	if diff := cmp.Diff(stateOf(1), loaded(t, s)); diff != "" {
		t.Errorf("(-stored +found)\n%s", diff)
	}
}
