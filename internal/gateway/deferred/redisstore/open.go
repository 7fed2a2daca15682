// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

const (
	// callTimeout bounds one command, so that an app does not wait for a store that is gone.
	callTimeout = 5 * time.Second
	poolSize    = 8
	// maxPassword bounds the file of the password.
	maxPassword = 4 << 10
)

// Options say where the store is.
type Options struct {
	// URL is redis://[USER@]HOST[:PORT][/DATABASE], or rediss:// for TLS. It names one server.
	URL string
	// PasswordFile holds the password, so that it need not stand in the command line. An empty file is none.
	PasswordFile string
	// ExtraCA is a PEM bundle trusted beside the system's.
	ExtraCA []byte
	// Namespace keeps tenants apart.
	Namespace string
}

// Store is a store in Redis or Valkey.
type Store struct {
	client *redis.Client
	prefix string
	owner  string
	// from is where Tend looks next in the index.
	from atomic.Int64
}

var _ store.Store = (*Store)(nil)

// Open connects to the store.
func Open(ctx context.Context, o Options) (*Store, error) {
	opts, err := options(o)
	if err != nil {
		return nil, err
	}
	quieten()
	s := &Store{
		client: redis.NewClient(opts), owner: ticket.NewID(),
		// All keys of a namespace begin with it, so that a user of the store's may be bound to them; the braces keep them in one
		// slot, which some servers that are a cluster behind one address ask of scripts.
		prefix: "{headgate:" + o.Namespace + "}:deferred:",
	}
	if err := s.beat(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the store of deferred calls does not answer: %w", explained(err)), s.client.Close())
	}
	return s, nil
}

// quieten has the client write no lines of its own beside the log: what fails is returned.
var quieten = sync.OnceFunc(func() { redis.SetLogger(silent{}) })

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Close implements store.Store: others may take over at once what this gateway did not finish.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	err := s.client.Del(ctx, s.heartbeat(s.owner)).Err()
	return errors.Join(err, s.client.Close())
}
