// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// callTimeout bounds one command: a drawer that waits longer is better off with its share.
	callTimeout = time.Second
	poolSize    = 8
	// maxPassword and maxCA bound files.
	maxPassword = 4 << 10
	maxCA       = 1 << 20
)

// Options say where the store is.
type Options struct {
	// URL is redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE], or rediss:// for TLS; with several hosts and ?sentinel=NAME
	// or ?cluster=true. ?prefix=NAME parts installations that use one server and share nothing.
	URL string
	// Password is the user's; PasswordFile holds it, and is read anew for each connection.
	Password, PasswordFile string
	// CA is a PEM bundle trusted beside the system's.
	CA []byte

	// patience is for tests that no busy machine is to fail; 0 is callTimeout.
	patience time.Duration
}

// universal turns the options into those of the client.
func universal(o Options) (*redis.UniversalOptions, target, error) {
	t, err := parse(o.URL)
	if err != nil {
		return nil, t, err
	}
	timeout := callTimeout
	if o.patience > 0 {
		timeout = o.patience
	}
	u := &redis.UniversalOptions{
		Addrs: t.addresses, DB: t.database, MasterName: t.sentinel, IsClusterMode: t.cluster, Username: t.user,
		DialTimeout: timeout, ReadTimeout: timeout, WriteTimeout: timeout, PoolTimeout: timeout,
		ContextTimeoutEnabled: true, DisableIdentity: true, PoolSize: poolSize, MaxRetries: 1, MaxRedirects: 3,
	}
	if u.TLSConfig, err = tlsConfig(t, o.CA); err != nil {
		return nil, t, err
	}
	switch {
	case t.password != "" && (o.Password != "" || o.PasswordFile != ""), o.Password != "" && o.PasswordFile != "":
		return nil, t, errors.New("the budget store's password is given twice")
	case o.PasswordFile != "":
		if t.password, err = readPassword(o.PasswordFile); err != nil {
			return nil, t, err
		}
		u.CredentialsProviderContext = func(context.Context) (string, string, error) {
			password, err := readPassword(o.PasswordFile)
			return t.user, password, err
		}
	case o.Password != "":
		t.password = o.Password
	}
	u.Password = t.password
	if t.sentinelAuth {
		u.SentinelUsername, u.SentinelPassword = t.user, t.password
	}
	return u, t, nil
}

func tlsConfig(t target, ca []byte) (*tls.Config, error) {
	if !t.tls {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(ca) > 0 {
		var err error
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			// An image without certificates still reaches what the bundle signs.
			c.RootCAs = x509.NewCertPool()
		}
		if len(ca) > maxCA || !c.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("the budget store's certificates: there is none in the bundle")
		}
	}
	return c, nil
}

func readPassword(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("the budget store's password: %w", err)
	}
	if info.Size() > maxPassword {
		return "", fmt.Errorf("the budget store's password: %s has %d bytes", path, info.Size())
	}
	b, err := os.ReadFile(path) //nolint:gosec // G304: the operator names the file
	if err != nil {
		return "", fmt.Errorf("the budget store's password: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}
