// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budgetstore"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// TestURLs: what they mean, or what is wrong with them, never with the password in it.
func TestURLs(t *testing.T) {
	for url, want := range map[string]any{
		"redis://store":                                    target{addresses: []string{"store:6379"}},
		"rediss://u:p%40x@store:6380/3":                    target{addresses: []string{"store:6380"}, tls: true, user: "u", password: "p@x", database: 3},
		"redis://[::1]:1,[::2]?cluster=true&prefix=a-b":    target{addresses: []string{"[::1]:1", "[::2]:6379"}, cluster: true, prefix: "a-b"},
		"redis://a:26379,b/1?sentinel=main&sentinelAuth=1": target{addresses: []string{"a:26379", "b:6379"}, database: 1, sentinel: "main", sentinelAuth: true},
		"":                errURL,
		"redis://]":       errURL,
		"redis://a]:1":    errURL,
		"redis://a:0":     errURL,
		"redis://a:65536": errURL,
		"redis://a b":     errURL,
		"store:6379":      errURL,
		"http://u:c4n4ryKey-secret-of-the-store@a":            errURL,
		"redis://u:c4n4ryKey-secret-of-the-store@":            errURL,
		"redis://a/c4n4ryKey-secret-of-the-store":             errURL,
		"redis://a#c4n4ryKey-secret-of-the-store":             errURL,
		"redis://u:c4n4ryKey-secret-of-the-store@a,b":         errSeveral,
		"redis://a,b/1?cluster=true":                          errBoth,
		"redis://a?cluster=true&sentinel=x":                   errBoth,
		"redis://a?password=c4n4ryKey-secret-of-the-store":    errParam,
		"redis://a?prefix=x&prefix=y":                         errParam,
		"redis://a?cluster=c4n4ryKey-secret-of-the-store":     errParam,
		"redis://a?prefix={c4n4ryKey-secret-of-the-store}":    errPrefix,
		"redis://a?prefix=":                                   errPrefix,
		"redis://" + strings.Repeat("a,", 20) + "a?cluster=1": errURL,
	} {
		got, err := parse(url)
		fmt.Fprintln(failed, err)
		if bad, ok := want.(error); ok {
			if !errors.Is(err, bad) || strings.Contains(err.Error(), redisserver.Password) {
				t.Errorf("%s: %v", url, err)
			}
		} else if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
}

// TestCredentials: from a file that may change, or given, but not twice; what a server says of them holds no password.
func TestCredentials(t *testing.T) {
	server := redisserver.Start(t)
	path := server.PasswordFile()
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"twice":           {Options{URL: server.URL(), Password: "x", PasswordFile: path}, "given twice"},
		"no file":         {Options{URL: server.URL(), PasswordFile: filepath.Join(t.TempDir(), "none")}, "no such file"},
		"no certificates": {Options{URL: "rediss://a", CA: []byte("none")}, "there is none in the bundle"},
	} {
		if _, err := Open(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := Open(Options{URL: server.URL(), PasswordFile: path, patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	newClient(t, s, "account/a", "a").granted(1)
	server.Do("ACL SETUSER default resetpass >another-secret")
	if err := os.WriteFile(path, []byte("another-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.client.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "no")
	newClient(t, s, "account/b", "a").granted(1)
	wrong, err := Open(Options{URL: server.URL(), Password: "wrong-secret", patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = wrong.Close() }()
	if _, err := newClient(t, wrong, "account/a", "b").draw(1); err == nil || !strings.Contains(err.Error(), "WRONGPASS") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a wrong password: %v", err)
	}
}

// TestAStoreThatDoesNotAnswerIsGivenUp within a moment, whether it is gone or stands still.
func TestAStoreThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t)
	c := newClient(t, openHasty(t, server.URL()), "account/a", "a")
	c.granted(1)
	server.Pause()
	began := time.Now()
	if _, err := c.draw(1); err == nil || errors.Is(err, budgetstore.ErrRefused) {
		t.Errorf("paused: %v", err)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("it took %s", took)
	}
	server.Resume()
	c.granted(1)
	server.Kill()
	if _, err := c.draw(1); err == nil {
		t.Error("a store that is gone answered")
	}
	server.Run()
	had := c.r.Lines[0].Got
	c.granted(1)
	if a := c.answered(); a.Lines[0].Outstanding < had {
		t.Errorf("after a restart: %+v", a)
	}
}
