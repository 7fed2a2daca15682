// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

// shelf is a queue of one ticket.
type shelf struct{ id, did string }

func (s *shelf) List() []deferred.Listed { return []deferred.Listed{{ID: s.id, Route: "anthropic"}} }

func (s *shelf) Replay(_ context.Context, id string) error {
	if id != s.id {
		return store.ErrUnknown
	}
	s.did = "replay"
	return nil
}

func (s *shelf) Drop(context.Context, string) error { return deferred.ErrBusy }

// TestTheSocketIsItsOwnersAlone, and replaces one that a killed gateway left behind.
func TestTheSocketIsItsOwnersAlone(t *testing.T) {
	t.Chdir(t.TempDir()) // a socket's path must be short, and the folder for tests may have a long one
	const dir = "."
	if _, err := Dial(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("without a gateway: %v", err)
	}
	path := filepath.Join(dir, socketName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(t.Context(), dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("with what a gateway left behind: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	s := &shelf{id: ticket.NewID()}
	go func() { defer close(done); Serve(ctx, dir, s, slog.New(slog.DiscardHandler)) }()
	var c *Client
	for deadline := time.Now().Add(time.Minute); c == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		c, _ = Dial(ctx, dir)
	}
	if c == nil {
		t.Fatal("the socket is not served")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	list, err := c.List(ctx)
	if err != nil || len(list) != 1 || list[0].ID != s.id {
		t.Errorf("%v %v", list, err)
	}
	if err := c.Replay(ctx, s.id); err != nil || s.did != "replay" {
		t.Errorf("%v", err)
	}
	for _, err := range []error{c.Replay(ctx, ticket.NewID()), c.Replay(ctx, "x"), c.Drop(ctx, s.id)} {
		if err == nil || err.Error() == "" {
			t.Error("a request that cannot be served succeeded")
		}
	}
	cancel()
	<-done
}
