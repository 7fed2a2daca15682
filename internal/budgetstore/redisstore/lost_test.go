// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// TestAKeyMayBeLostAlone: evicted, or deleted by hand. The next draw begins the account anew where it must.
func TestAKeyMayBeLostAlone(t *testing.T) {
	s := openAt(t, redisserver.Start(t).URL())
	for i := range 3 {
		account := fmt.Sprint("account/", i)
		first, second := newClient(t, s, account, "first"), newClient(t, s, account, "second")
		for _, c := range []*client{first, second} {
			if _, err := c.draw(1); err != nil {
				t.Fatal(err)
			}
		}
		key := s.keys(account)[i]
		if n := s.client.Del(context.Background(), key).Val(); n != 1 {
			t.Fatalf("there was no %s", key)
		}
		for _, c := range []*client{first, second, newClient(t, s, account, "third")} {
			if _, err := c.draw(1); err != nil {
				t.Errorf("without %s: %v", key, err)
			}
		}
	}
}

// TestNamesOfBudgetsComeAndGo: an account has room for 1,024, and those that nobody has drawn on for an hour make room.
func TestNamesOfBudgetsComeAndGo(t *testing.T) {
	s := open(t)
	const account = "account/names"
	began := time.Unix(1_800_000_000, 0)
	clock := strings.TrimSuffix(s.keys(account)[0], "account") + "clock"
	set := func(after time.Duration) {
		s.client.Set(context.Background(), clock, fmt.Sprintf("%.6f", float64(began.Add(after).UnixMicro())/1e6), 0)
	}
	draw := func(c *client, elapsed time.Duration) error {
		c.r.Sequence++
		c.r.Elapsed = elapsed
		res := s.Draw(t.Context(), []*budgetstore.Request{&c.r})[0]
		if res.Err == nil {
			c.r.Instance, c.r.Version, c.r.Stamp, c.r.Lease = res.Answer.Instance, res.Answer.Version, res.Answer.Stamp, budgetstore.Life
		}
		return res.Err
	}
	named := func(drawer, prefix string, n int) *client {
		c := newClient(t, s, account, drawer)
		c.r.Lines = nil
		for i := range n {
			c.r.Lines = append(c.r.Lines, budgetstore.Line{Name: fmt.Sprint(prefix, i), Rate: 1000, Capacity: 1000, Small: 10})
		}
		return c
	}
	set(0)
	keeper := named("keeper", "kept-", 1)
	for _, c := range []*client{keeper, named("a", "a-", 512), named("b", "b-", 511)} {
		if err := draw(c, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := draw(named("c", "c-", 1), 0); err == nil || !strings.Contains(err.Error(), "too many budgets") {
		t.Fatalf("the 1,025th: %v", err)
	}
	for at := 10 * time.Second; at < 65*time.Minute; at += 10 * time.Second {
		set(at)
		if err := draw(keeper, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := draw(named("d", "d-", 500), 0); err != nil {
		t.Errorf("more than an hour after anybody drew on the others: %v", err)
	}
	if err := draw(keeper, 65*time.Minute); err != nil {
		t.Errorf("what is drawn on stays: %v", err)
	}
}
