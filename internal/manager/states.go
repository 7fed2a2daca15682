// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/internal/coordinator"
	"github.com/headgate-dev/headgate/internal/ledger"
)

// What the leader keeps for the next one, in the manager's own namespace.
const (
	BudgetsConfigMap = "headgate-budgets"
	BudgetsKey       = "state.json"
)

// errDeposed is a write over a later leader's.
var errDeposed = errors.New("a later leader stored its own")

// states keeps the leader's state in a ConfigMap. It implements coordinator.States for one goroutine at a time.
type states struct {
	client client.Client
	key    client.ObjectKey
	// known is what was last read or written; nil if it has to be read.
	known *corev1.ConfigMap
}

func newStates(c client.Client, namespace string) *states {
	return &states{client: c, key: client.ObjectKey{Namespace: namespace, Name: BudgetsConfigMap}}
}

// Load implements coordinator.States.
func (s *states) Load(ctx context.Context) (ledger.State, bool, error) {
	found, err := s.read(ctx)
	if err != nil || !found {
		return ledger.State{}, false, err
	}
	state, err := decode(s.known)
	if err != nil {
		return ledger.State{}, true, fmt.Errorf("%w: %w", coordinator.ErrState, err)
	}
	return state, true, nil
}

func (s *states) read(ctx context.Context) (found bool, err error) {
	var there corev1.ConfigMap
	s.known = nil
	switch err := s.client.Get(ctx, s.key, &there); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read ConfigMap %s: %w", s.key, err)
	}
	s.known = &there
	return true, nil
}

func decode(m *corev1.ConfigMap) (state ledger.State, err error) {
	content, ok := m.Data[BudgetsKey]
	if !ok {
		return state, fmt.Errorf("no %s in it", BudgetsKey)
	}
	if len(content) > ledger.MaxStateBytes {
		return state, fmt.Errorf("%s exceeds %d KiB", BudgetsKey, ledger.MaxStateBytes>>10)
	}
	if err := json.Unmarshal([]byte(content), &state); err != nil {
		return ledger.State{}, fmt.Errorf("%s: %w", BudgetsKey, err)
	}
	return state, nil
}

// Store implements coordinator.States. It writes over the version it knows, so a change in between is seen: a later leader's
// stays, anything else is replaced.
func (s *states) Store(ctx context.Context, state ledger.State) error {
	content, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	for again := range 3 {
		if again > 0 || s.known == nil {
			if _, err := s.read(ctx); err != nil {
				return err
			}
		}
		if s.deposed(&state) {
			return errDeposed
		}
		err = s.write(ctx, string(content))
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	return err
}

// deposed says that a later leader of this installation has stored its own. What is damaged or came from another cluster, as a
// backup may bring it, says nothing: it would keep all leaders from storing anything. A later format cannot be judged.
func (s *states) deposed(ours *ledger.State) bool {
	if s.known == nil {
		return false
	}
	there, err := decode(s.known)
	if err != nil || there.Epoch <= ours.Epoch || there.Origin != ours.Origin {
		return false
	}
	_, err = ledger.ParseState([]byte(s.known.Data[BudgetsKey]))
	return err == nil || there.Version > ledger.StateVersion
}

func (s *states) write(ctx context.Context, content string) (err error) {
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	if s.known != nil {
		m = s.known.DeepCopy()
	}
	// All of it is ours: what others put beside it might leave no room for a state.
	m.Data, m.BinaryData = map[string]string{BudgetsKey: content}, nil
	if s.known == nil {
		m.Labels = map[string]string{"app.kubernetes.io/name": "headgate"}
		err = s.client.Create(ctx, m)
	} else {
		err = s.client.Update(ctx, m)
	}
	s.known = nil
	if err != nil {
		return fmt.Errorf("write ConfigMap %s: %w", s.key, err)
	}
	s.known = m
	return nil
}
