// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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
	// URL is redis://, or rediss:// for TLS; see redis.ParseClusterURL for its parameters.
	URL string
	// PasswordFile holds the password, so that it need not stand in the command line.
	PasswordFile string
	// Namespace keeps tenants apart.
	Namespace string
}

// Store is a store in Redis or Valkey.
type Store struct {
	client redis.UniversalClient
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
	s := &Store{
		client: redis.NewUniversalClient(opts), owner: ticket.NewID(),
		// All keys of a namespace are in one slot, since scripts touch several.
		prefix: "{headgate:" + o.Namespace + "}:deferred:",
	}
	if err := s.beat(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the store of deferred calls does not answer: %w", err), s.client.Close())
	}
	return s, nil
}

func options(o Options) (*redis.UniversalOptions, error) {
	// The cluster's form of the URL knows all that the other one does, and addr parameters beside it.
	c, err := redis.ParseClusterURL(o.URL)
	if err != nil {
		// The error may quote the URL, and that a password.
		return nil, errors.New("the URL of the store of deferred calls is none: redis://HOST:PORT or rediss://HOST:PORT")
	}
	opts := &redis.UniversalOptions{
		Addrs: c.Addrs, Username: c.Username, Password: c.Password, TLSConfig: c.TLSConfig, PoolSize: poolSize,
		DialTimeout: callTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout, ContextTimeoutEnabled: true,
		DisableIdentity: true,
	}
	if o.PasswordFile != "" {
		password, err := readPassword(o.PasswordFile)
		if err != nil {
			return nil, err
		}
		opts.Password = password
	}
	return opts, nil
}

func readPassword(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("the store's password: %w", err)
	}
	if info.Size() > maxPassword {
		return "", fmt.Errorf("the store's password: %s has %d bytes", path, info.Size())
	}
	b, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the file
	if err != nil {
		return "", fmt.Errorf("the store's password: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Close implements store.Store: others may take over at once what this gateway did not finish.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	err := s.client.Del(ctx, s.heartbeat(s.owner)).Err()
	return errors.Join(err, s.client.Close())
}
