// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // G505: it is how Redis names scripts
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-dev/headgate/internal/budgetstore"
)

// Store is a budget store in Redis or Valkey.
type Store struct {
	client redis.UniversalClient
	prefix string
	// script is the text, digest what servers know it by.
	script, digest string
}

var _ budgetstore.Store = (*Store)(nil)

// Open makes a store. It connects when something is drawn: a store that is down must keep nobody from starting.
func Open(o Options) (*Store, error) {
	u, t, err := universal(o)
	if err != nil {
		return nil, err
	}
	quieten()
	s := &Store{client: redis.NewUniversalClient(u), prefix: t.prefix}
	s.use(script)
	return s, nil
}

// quieten has the client write no lines of its own beside a log: what fails is returned, counted and told once.
var quieten = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

func (s *Store) use(text string) {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // G401: it is how Redis names scripts
	s.script, s.digest = text, hex.EncodeToString(sum[:])
}

// Close ends the connections.
func (s *Store) Close() error { return s.client.Close() }

// keys are an account's, all in one slot.
func (s *Store) keys(account string) []string {
	name := account
	if s.prefix != "" {
		name = s.prefix + ":" + account
	}
	// Braces in it would move the keys to other slots.
	at := "{headgate:budget:" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(url.PathEscape(name)) + "}:v1:"
	return []string{at + "account", at + "drawers", at + "times"}
}

// Draw implements budgetstore.Store: all draws go in one round trip to each server that has some of them.
func (s *Store) Draw(ctx context.Context, requests []*budgetstore.Request) []budgetstore.Result {
	results := make([]budgetstore.Result, len(requests))
	commands := make([]*redis.Cmd, len(requests))
	pipe := s.client.Pipeline()
	for i, r := range requests {
		body, err := encode(r)
		if err != nil {
			results[i].Err = err
			continue
		}
		commands[i] = pipe.EvalSha(ctx, s.digest, s.keys(r.Account), body)
	}
	_, whole := pipe.Exec(ctx)
	for i, c := range commands {
		if c == nil {
			continue
		}
		reply, err := c.Result()
		if err == nil && reply == nil && whole != nil {
			// There was no connection for any of them.
			err = whole
		}
		if redis.HasErrorPrefix(err, "NOSCRIPT") {
			// The server was restarted or replaced, or has never seen this version.
			body, _ := encode(requests[i])
			reply, err = s.client.Eval(ctx, s.script, s.keys(requests[i].Account), body).Result()
		}
		if err != nil {
			results[i].Err = explained(err)
			continue
		}
		results[i].Answer, results[i].Err = decode(reply, len(requests[i].Lines))
	}
	return results
}

// explained says what an error means here. None of the client's holds a password: a test sees to that.
func explained(err error) error {
	if text, ok := strings.CutPrefix(err.Error(), "HEADGATE "); ok {
		return fmt.Errorf("%w: %s", budgetstore.ErrRefused, text)
	}
	for _, prefix := range []string{"MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT"} {
		if redis.HasErrorPrefix(err, prefix) {
			return errors.Join(errors.New("the server is part of a cluster: is cluster=true missing in the URL, or are nodes?"), err)
		}
	}
	return err
}

// LeastRights are the commands that a user needs, as ACL SETUSER takes them. HELLO, AUTH and SELECT are how a connection begins.
const LeastRights = "-@all +eval +evalsha +hello +auth +ping +select +time +hget +hset +hdel +hgetall +zadd +zrem +zrange +expire"

// ClusterRights are those that it needs in a cluster beside them, SentinelRights those at Sentinels that ask for a user.
const (
	ClusterRights  = "+cluster|slots +cluster|shards +command +readonly"
	SentinelRights = "-@all +hello +auth +ping +subscribe +psubscribe +sentinel|get-master-addr-by-name +sentinel|sentinels +sentinel|replicas &*"
)
