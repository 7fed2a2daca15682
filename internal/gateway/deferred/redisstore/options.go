// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/storeurl"
)

// The ways a URL is refused. None quotes it: it may hold a password.
var (
	errURL     = errors.New("the URL of the store of deferred calls is none: redis://[USER@]HOST[:PORT][/DATABASE], or rediss:// for TLS")
	errQuery   = errors.New("the URL of the store of deferred calls has parameters: it takes none")
	errSeveral = errors.New("the URL of the store of deferred calls names several servers: sentinels and clusters are not supported, name one server, or the address that leads to the primary")
)

// errCluster says that the server is part of a cluster whose other nodes have the keys.
var errCluster = errors.New("the server is one of a cluster, which is not supported")

// options reads what to connect to.
func options(o Options) (*redis.Options, error) {
	if err := CheckURL(o.URL); err != nil {
		return nil, err
	}
	opts, err := redis.ParseURL(o.URL)
	if err != nil {
		return nil, errURL // the error may quote the URL
	}
	opts.PoolSize = poolSize
	opts.DialTimeout, opts.ReadTimeout, opts.WriteTimeout = callTimeout, callTimeout, callTimeout
	opts.ContextTimeoutEnabled, opts.DisableIdentity = true, true
	if opts.TLSConfig != nil {
		if opts.TLSConfig.RootCAs, err = upstream.Roots(o.ExtraCA); err != nil {
			return nil, fmt.Errorf("the store's certificates: %w", err)
		}
	}
	if o.PasswordFile != "" {
		// Read anew for each connection, so that a password may be changed under a gateway that runs.
		user, file := opts.Username, o.PasswordFile
		opts.CredentialsProviderContext = func(context.Context) (string, string, error) {
			password, err := readPassword(file)
			return user, password, err
		}
		if _, err := readPassword(file); err != nil {
			return nil, err
		}
	}
	return opts, nil
}

// CheckURL refuses what go-redis would take for something else, or leave out without a word.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil && strings.Contains(raw, ","), err == nil && strings.Contains(u.Host, ","):
		return errSeveral
	case err != nil || u.Scheme != "redis" && u.Scheme != "rediss" || !storeurl.IsServer(u.Hostname(), u.Port()) || u.Fragment != "" || u.Opaque != "":
		return errURL
	case u.Query().Has("addr") || u.Query().Has("master_name") || u.Query().Has("master"):
		return errSeveral
	case u.RawQuery != "" || u.ForceQuery:
		return errQuery
	}
	return nil
}

// explained says of a server's answer what it means here.
func explained(err error) error {
	for _, prefix := range []string{"MOVED", "ASK", "CLUSTERDOWN", "CROSSSLOT"} {
		if redis.HasErrorPrefix(err, prefix) {
			return fmt.Errorf("%w: %w", errCluster, err)
		}
	}
	return err
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
