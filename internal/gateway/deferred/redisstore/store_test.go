// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/storetest"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// shown is what Redis holds and says of all tests, prompts and all, and what went wrong with it, in which no key may stand.
var (
	shown  canary.Watch
	held   = shown.Kept("what Redis holds")
	failed = shown.Log("the errors")
)

func TestMain(m *testing.M) {
	redisserver.TellAll(held)
	leaks.VerifyTestMain(shown.Over(m))
}

// serve runs a real server with a password, and returns its URL.
func serve(t *testing.T) string {
	t.Helper()
	return redisserver.Start(t).URL()
}

func open(t *testing.T, url, namespace string) *Store {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(redisserver.Password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{URL: url, PasswordFile: file, Namespace: namespace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestStore(t *testing.T) { storetest.Run(t, open(t, serve(t), "team-support")) }

// TestTicketsOfAGatewayThatIsGoneAreTakenOver by one other, once; what the former owner still writes is refused. Another
// namespace sees nothing of it.
func TestTicketsOfAGatewayThatIsGoneAreTakenOver(t *testing.T) {
	url := serve(t)
	first, second, third := open(t, url, "team-support"), open(t, url, "team-support"), open(t, url, "team-support")
	other := open(t, url, "team-other")
	ctx, k := t.Context(), storetest.Ticket(time.Now(), []byte("body"))
	if err := first.Create(ctx, k, []byte("body")); err != nil {
		t.Fatal(err)
	}
	if got, err := second.Tend(ctx, 10); err != nil || len(got) != 0 {
		t.Errorf("a ticket was taken from a gateway that lives: %v %v", got, err)
	}
	if got, err := second.Read(ctx, k.ID); err != nil || got.ID != k.ID {
		t.Errorf("the ticket does not answer in another pod: %v", err)
	}
	if err := second.Save(ctx, k, store.Bodies{}); !errors.Is(err, store.ErrLost) {
		t.Errorf("a gateway changed a ticket of another: %v", err)
	}
	// As after 30 seconds without a sign of life.
	if err := first.client.Del(ctx, first.heartbeat(first.owner)).Err(); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Tend(ctx, 10); err != nil || len(got) != 0 {
		t.Errorf("another namespace took it: %v %v", got, err)
	}
	if _, err := other.Read(ctx, k.ID); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("another namespace reads it: %v", err)
	}
	got, err := second.Tend(ctx, 10)
	if err != nil || len(got) != 1 || got[0].ID != k.ID {
		t.Fatalf("%v %v", got, err)
	}
	if again, err := third.Tend(ctx, 10); err != nil || len(again) != 0 {
		t.Errorf("it was taken twice: %v %v", again, err)
	}
	if err := first.Save(ctx, k, store.Bodies{}); !errors.Is(err, store.ErrLost) {
		t.Errorf("the former owner still writes: %v", err)
	}
	if err := second.Save(ctx, got[0], store.Bodies{DropRequest: true}); err != nil {
		t.Error(err)
	}
}

// TestEveryKeyHasAnEnd, so that what nobody looks after goes by itself.
func TestEveryKeyHasAnEnd(t *testing.T) {
	s := open(t, serve(t), "team-support")
	if err := s.Create(t.Context(), storetest.Ticket(time.Now(), []byte("body")), []byte("body")); err != nil {
		t.Fatal(err)
	}
	keys, err := s.client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 3 {
		t.Fatalf("%v %v", keys, err)
	}
	for _, key := range keys {
		if ttl, err := s.client.PTTL(t.Context(), key).Result(); err != nil || ttl <= 0 || ttl > 5*time.Hour {
			t.Errorf("%s lives %s, %v", key, ttl, err)
		}
	}
}
