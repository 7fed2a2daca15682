// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestKeyLeavesOverHTTPSToListedHostsOnly(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "anthropic", "sk-ant-secret\n")
	write(t, dir, "anthropic.hosts", "api.anthropic.com # theirs\nproxy.example:8443\n")
	write(t, dir, "unbound", "sk-unbound")
	s := New(dir)
	if _, err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		name, url string
		want      error
	}{
		"listed":              {"anthropic", "https://api.anthropic.com", nil},
		"listed, other case":  {"anthropic", "https://API.Anthropic.com/v1", nil},
		"listed, any port":    {"anthropic", "https://api.anthropic.com:8443", nil},
		"listed with port":    {"anthropic", "https://proxy.example:8443", nil},
		"port not listed":     {"anthropic", "https://proxy.example", ErrHost},
		"http":                {"anthropic", "http://api.anthropic.com", ErrNotHTTPS},
		"another host":        {"anthropic", "https://evil.example", ErrHost},
		"a host that ends so": {"anthropic", "https://xapi.anthropic.com", ErrHost},
		"loopback over http":  {"anthropic", "http://127.0.0.1:1", ErrNotHTTPS},
		"no hosts entry":      {"unbound", "https://api.anthropic.com", ErrHost},
		"no such key":         {"openai", "https://api.openai.com", ErrUnknown},
		"the hosts entry":     {"anthropic.hosts", "https://api.anthropic.com", ErrUnknown},
		"a path":              {"../anthropic", "https://api.anthropic.com", ErrUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			key, err := s.Key(tc.name, u)
			if !errors.Is(err, tc.want) {
				t.Fatalf("Key = %v, want %v", err, tc.want)
			}
			if (key == "sk-ant-secret") != (tc.want == nil) {
				t.Errorf("key given: %t", key != "")
			}
			if err != nil && strings.Contains(err.Error(), "sk-") {
				t.Errorf("the error holds a key: %v", err)
			}
		})
	}
}

func TestReloadFollowsTheDirectoryAndKeepsTheLastGoodKeys(t *testing.T) {
	dir := t.TempDir()
	s := New(dir)
	u := &url.URL{Scheme: "https", Host: "h.example"}
	write(t, dir, "k", "one")
	write(t, dir, "k.hosts", "h.example")
	if changed, err := s.Reload(); len(changed) != 1 || err != nil {
		t.Fatalf("Reload = %q, %v", changed, err)
	}
	read := s.current.Load()
	if changed, _ := s.Reload(); len(changed) != 0 || s.current.Load() != read {
		t.Error("a directory that did not change was read again")
	}
	write(t, dir, "k", "another")
	if _, err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	if got, _ := s.Key("k", u); got != "another" {
		t.Errorf("after the edit the key is %q", got)
	}
	write(t, dir, "k", "bad\x00key of control characters")
	if _, err := s.Reload(); err == nil {
		t.Error("control characters were accepted")
	}
	if got, _ := s.Key("k", u); got != "another" {
		t.Errorf("a bad edit replaced the last good key by %q", got)
	}
	if _, err := s.Reload(); err != nil {
		t.Errorf("the same fault is told again: %v", err)
	}
	// One bad key does not keep another from being rotated, nor a third from being withdrawn.
	write(t, dir, "other", "new")
	write(t, dir, "other.hosts", "h.example")
	_, _ = s.Reload()
	if got, _ := s.Key("other", u); got != "new" {
		t.Errorf("beside a bad key another is %q", got)
	}
	for _, name := range []string{"k", "other"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Reload(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"k", "other"} {
		if _, err := s.Key(name, u); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s was withdrawn and is still given: %v", name, err)
		}
	}
}
