// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/storeurl"
)

// The ways a URL is refused. None quotes it: it may hold a password.
var (
	errURL     = errors.New("the URL of the budget store is none: redis://[USER@]HOST[:PORT][,HOST[:PORT]…][/DATABASE][?sentinel=NAME|?cluster=true][&prefix=NAME], or rediss:// for TLS")
	errParam   = errors.New("the URL of the budget store has parameters beside sentinel, sentinelAuth, cluster and prefix, or one twice")
	errSeveral = errors.New("the URL of the budget store names several servers: say sentinel=NAME or cluster=true")
	errBoth    = errors.New("the URL of the budget store is of a cluster, which has no sentinels and no databases")
	errPrefix  = errors.New("the prefix in the URL of the budget store is not 1 to 64 letters, digits, dots, dashes and underscores")
)

// maxServers bounds the servers of a URL.
const maxServers = 16

// target is what a URL says.
type target struct {
	addresses      []string
	tls            bool
	user, password string
	database       int
	// sentinel is the name of the primary, where the addresses are Sentinels; sentinelAuth has them asked with the same
	// user and password.
	sentinel     string
	sentinelAuth bool
	cluster      bool
	prefix       string
}

// CheckURL says what is wrong with a URL.
func CheckURL(raw string) error {
	_, err := parse(raw)
	return err
}

// Secret says whether a URL holds a password.
func Secret(raw string) bool {
	t, err := parse(raw)
	return err != nil || t.password != ""
}

func parse(raw string) (target, error) {
	t := target{}
	// The list of servers is no URL's host: its parts are looked at one by one.
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || scheme != "redis" && scheme != "rediss" {
		return t, errURL
	}
	t.tls = scheme == "rediss"
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	hosts := authority[strings.LastIndexByte(authority, '@')+1:]
	u, err := url.Parse(scheme + "://" + strings.TrimSuffix(authority, hosts) + "host" + tail)
	if err != nil || u.Fragment != "" {
		return t, errURL
	}
	t.user = u.User.Username()
	t.password, _ = u.User.Password()
	if t.addresses, err = addresses(hosts); err != nil {
		return t, err
	}
	if path := strings.Trim(u.Path, "/"); path != "" {
		if t.database, err = strconv.Atoi(path); err != nil || t.database < 0 {
			return t, errURL
		}
	}
	if err := t.parameters(u); err != nil {
		return t, err
	}
	switch {
	case t.cluster && (t.sentinel != "" || t.database != 0):
		return t, errBoth
	case len(t.addresses) > 1 && !t.cluster && t.sentinel == "":
		return t, errSeveral
	}
	return t, nil
}

func addresses(hosts string) ([]string, error) {
	var out []string
	for _, host := range strings.Split(hosts, ",") {
		u, err := url.Parse("//" + host)
		if err != nil || !storeurl.IsServer(u.Hostname(), u.Port()) || len(out) >= maxServers {
			return nil, errURL
		}
		port := u.Port()
		if port == "" {
			port = "6379"
		}
		out = append(out, net.JoinHostPort(u.Hostname(), port))
	}
	return out, nil
}

func (t *target) parameters(u *url.URL) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errParam
	}
	for name, values := range query {
		if len(values) != 1 || !slices.Contains([]string{"sentinel", "sentinelAuth", "cluster", "prefix"}, name) {
			return errParam
		}
	}
	t.sentinel, t.prefix = query.Get("sentinel"), query.Get("prefix")
	for name, to := range map[string]*bool{"cluster": &t.cluster, "sentinelAuth": &t.sentinelAuth} {
		if text := query.Get(name); text != "" {
			if *to, err = strconv.ParseBool(text); err != nil {
				return fmt.Errorf("%w: %s is true or false", errParam, name)
			}
		}
	}
	if query.Has("prefix") && !isPrefix(t.prefix) {
		return errPrefix
	}
	return nil
}

func isPrefix(s string) bool {
	return s != "" && len(s) <= 64 && strings.Trim(s, storeurl.Named) == ""
}
