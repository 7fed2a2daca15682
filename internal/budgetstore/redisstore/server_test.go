// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// client is a drawer by hand, at a real server's time.
type client struct {
	t     *testing.T
	s     *Store
	r     budgetstore.Request
	began time.Time
}

func newClient(t *testing.T, s *Store, account, name string) *client {
	t.Helper()
	c := &client{t: t, s: s, began: time.Now()}
	c.r = budgetstore.Request{
		Account: account, Drawer: name, Incarnation: fmt.Sprint(time.Now().UnixNano()), Life: budgetstore.Life, Held: 10 * time.Second,
		Lines: []budgetstore.Line{{Name: "tokens", Rate: 1000, Capacity: 1000, Small: 10}},
	}
	return c
}

// draw asks for so much more, and returns what came.
func (c *client) draw(more float64) (*budgetstore.Answer, error) {
	c.r.Sequence++
	c.r.Elapsed = time.Since(c.began)
	l := &c.r.Lines[0]
	l.Want, l.Need = l.Got+more, more
	res := c.s.Draw(c.t.Context(), []*budgetstore.Request{&c.r})[0]
	if res.Err != nil {
		fmt.Fprintln(failed, res.Err)
		return nil, res.Err
	}
	c.r.Instance, c.r.Version, c.r.Stamp, c.r.Lease = res.Answer.Instance, res.Answer.Version, res.Answer.Stamp, budgetstore.Life
	l.Got = max(l.Got, res.Answer.Lines[0].Total)
	return res.Answer, nil
}

// granted draws until something is granted.
func (c *client) granted(more float64) {
	c.t.Helper()
	before := c.r.Lines[0].Got
	var err error
	for deadline := time.Now().Add(4 * time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, err = c.draw(more); err == nil && c.r.Lines[0].Got > before {
			return
		}
	}
	c.t.Fatalf("nothing was granted: %v", err)
}

// answered draws until there is an answer.
func (c *client) answered() *budgetstore.Answer {
	c.t.Helper()
	var err error
	for deadline := time.Now().Add(4 * time.Minute); time.Now().Before(deadline); {
		var a *budgetstore.Answer
		if a, err = c.draw(0); err == nil {
			return a
		}
	}
	c.t.Fatalf("nothing was answered: %v", err)
	return nil
}

// patience is how long a store may take where it is not the test's matter that it is given up: a machine may be busy.
const patience = time.Minute

// openAt opens a store that is waited for.
func openAt(t *testing.T, url string) *Store {
	t.Helper()
	return opened(t, Options{URL: url, Password: redisserver.Password, patience: patience})
}

// openHasty opens one that is given up as soon as that of a gateway.
func openHasty(t *testing.T, url string) *Store {
	t.Helper()
	return opened(t, Options{URL: url, Password: redisserver.Password})
}

func opened(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestASentinelsFailoverIsFollowed: what was granted stays granted, and grants go on at the replica.
func TestASentinelsFailoverIsFollowed(t *testing.T) {
	t.Parallel()
	servers := redisserver.StartSentinels(t)
	c := newClient(t, openAt(t, servers.URL()), "account/a", "d")
	c.granted(100)
	had := c.r.Lines[0].Got
	servers.Primary.Kill()
	c.granted(100)
	if c.r.Lines[0].Got < had {
		t.Errorf("%v became %v", had, c.r.Lines[0].Got)
	}
	a, err := c.draw(0)
	if err != nil || a.Lines[0].Outstanding < c.r.Lines[0].Got-1e-6 {
		t.Errorf("%v is in hand, the replica knows of %v, %v", c.r.Lines[0].Got, a, err)
	}
}

// TestAClusterKeepsEachAccountInOneSlot, many accounts in one pipeline.
func TestAClusterKeepsEachAccountInOneSlot(t *testing.T) {
	t.Parallel()
	s := openAt(t, redisserver.ClusterURL(redisserver.StartCluster(t)))
	var clients []*client
	for i := range 40 {
		clients = append(clients, newClient(t, s, fmt.Sprintf("policy/ns-%d/{odd}/%d", i, i), "d"))
	}
	for range 3 {
		var requests []*budgetstore.Request
		for _, c := range clients {
			c.r.Sequence++
			requests = append(requests, &c.r)
		}
		for i, r := range s.Draw(t.Context(), requests) {
			if r.Err != nil || r.Answer.Drawers > 1 {
				t.Fatalf("%s: %+v", requests[i].Account, r)
			}
		}
	}
}

// TestScriptsOfTwoVersionsDrawSideBySide on one account, and a server that forgot its scripts is sent them again.
func TestScriptsOfTwoVersionsDrawSideBySide(t *testing.T) {
	server := redisserver.Start(t)
	first, second := openAt(t, server.URL()), openAt(t, server.URL())
	second.use(script + "\n-- A later version.\n")
	a, b := newClient(t, first, "account/a", "a"), newClient(t, second, "account/a", "b")
	a.granted(100)
	server.Do("SCRIPT FLUSH")
	b.granted(100)
	a.granted(100)
	answer, err := b.draw(0)
	if err != nil {
		t.Fatal(err)
	}
	if sum := a.r.Lines[0].Got + b.r.Lines[0].Got; answer.Drawers != 2 || answer.Lines[0].Outstanding < sum-1e-6 {
		t.Errorf("%v is in hand: %+v", sum, answer)
	}
}

// What an earlier version kept has another shape: its account begins anew, as after a flush, and fails no draw.
func TestAnAccountOfAnEarlierLayoutBeginsAnew(t *testing.T) {
	s := openAt(t, redisserver.Start(t).URL())
	ctx := context.Background()
	key := s.keys("account/a")
	for _, write := range []string{
		`return redis.call('HSET', KEYS[1], 'account', cmsgpack.pack({layout = 1, id = 'x', n = 5, v = 1, off = 0}), 'b:tokens', cmsgpack.pack({R = 1}))`,
		`return redis.call('HSET', KEYS[2], 'n:a', cmsgpack.pack({ghost = {}}), 'r:a/1', cmsgpack.pack({seq = 9}))`,
	} {
		if err := s.client.Eval(ctx, write, key).Err(); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, s, "account/a", "a")
	for range 2 {
		if answer, err := c.draw(1); err != nil || answer.Instance == "x" {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
}

// TestAnAccountOfALaterLayoutIsLeftAlone.
func TestAnAccountOfALaterLayoutIsLeftAlone(t *testing.T) {
	s := openAt(t, redisserver.Start(t).URL())
	ctx := context.Background()
	key := s.keys("account/a")
	if err := s.client.Eval(ctx, `redis.call('HSET', KEYS[1], 'account', cmsgpack.pack({layout = 1000}))`, key[:1]).Err(); err != nil && !strings.Contains(err.Error(), "nil") {
		t.Fatal(err)
	}
	before := s.client.HGetAll(ctx, key[0]).Val()
	_, err := newClient(t, s, "account/a", "a").draw(1)
	if !errors.Is(err, budgetstore.ErrRefused) || !strings.Contains(err.Error(), "LAYOUT") {
		t.Errorf("%v", err)
	}
	if after := s.client.HGetAll(ctx, key[0]).Val(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%q became %q", before, after)
	}
}

// TestAUserWithTheLeastRightsSuffices: those that docs/budget-store.md names. Another prefix is out of its reach.
func TestAUserWithTheLeastRightsSuffices(t *testing.T) {
	server := redisserver.Start(t)
	server.Do("ACL SETUSER headgate on >secret-of-the-user ~{headgate:budget:prod:* " + LeastRights)
	s, err := Open(Options{URL: strings.Replace(server.URL(), "://", "://headgate@", 1) + "?prefix=prod", Password: "secret-of-the-user", patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	newClient(t, s, "account/a", "a").granted(10)
	s.prefix = "other"
	_, err = newClient(t, s, "account/a", "a").draw(1)
	if err == nil || strings.Contains(err.Error(), "secret-of-the-user") {
		t.Errorf("another prefix: %v", err)
	}
}

// TestEveryKeyHasAnEnd, and their number does not grow with drawers.
func TestEveryKeyHasAnEnd(t *testing.T) {
	s := openAt(t, redisserver.Start(t).URL())
	for i := range 20 {
		_, _ = newClient(t, s, "account/a", fmt.Sprint(i)).draw(1)
	}
	ctx := context.Background()
	keys, err := s.client.Keys(ctx, "*").Result()
	if err != nil || len(keys) != 3 {
		t.Fatalf("%v %v", keys, err)
	}
	for _, key := range keys {
		if ttl := s.client.TTL(ctx, key).Val(); ttl <= 0 || ttl > 25*time.Hour {
			t.Errorf("%s lives %s", key, ttl)
		}
	}
}

// TestDrawersAreBounded: in number, by incarnations, and what they send.
func TestDrawersAreBounded(t *testing.T) {
	s := openAt(t, redisserver.Start(t).URL())
	for i := range 5 {
		_, err := newClient(t, s, "account/a", "same").draw(1)
		if (i < 4) != (err == nil) {
			t.Errorf("incarnation %d: %v", i, err)
		}
	}
	c := newClient(t, s, "account/b", "d")
	c.r.Lines = make([]budgetstore.Line, budgetstore.MaxLines+1)
	if res := s.Draw(t.Context(), []*budgetstore.Request{&c.r}); !errors.Is(res[0].Err, errBounds) {
		t.Errorf("too many lines: %v", res[0].Err)
	}
}
