// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// names are the headers that providers and the proxies before them take credentials from.
var names = [...]string{
	"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key",
	"X-Amz-Security-Token", "X-Auth-Token", "Cookie",
}

// accounts are headers that choose an account or a part of one for the same key.
var accounts = [...]string{"Openai-Organization", "Openai-Project", "Anthropic-Workspace", "X-Goog-User-Project"}

// Replace removes every credential and puts value into name.
func Replace(h http.Header, name, value string) {
	for _, n := range names {
		delete(h, n)
	}
	h[name] = []string{value}
}

// Clean removes what must not stand around a key that was read from a file.
func Clean(key string) string { return strings.TrimSpace(key) }

// secret makes fingerprints useless outside this process.
var secret = func() (s [32]byte) {
	_, _ = rand.Read(s[:]) // never fails: it ends the process instead
	return s
}()

// WithoutQuery removes the parameters of the raw query that are named keys, and leaves every other byte.
func WithoutQuery(query string, keys ...string) string {
	if query == "" {
		return ""
	}
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		if _, is := parameter(part, keys); !is {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// parameter returns the value of a part of a raw query if its name, however it is escaped and in whatever letters, is one of
// keys: some providers take it in any.
func parameter(part string, keys []string) (value string, is bool) {
	name, value, _ := strings.Cut(part, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	return value, slices.ContainsFunc(keys, func(key string) bool { return strings.EqualFold(key, name) })
}

// Fingerprint tells apart the accounts behind the credentials in h, and in those parameters of the raw query
// that are named keys; it is 0 where there are none.
func Fingerprint(h http.Header, query string, keys ...string) uint64 {
	var array [1024]byte
	text := append(array[:0], secret[:]...)
	found := false
	for i, n := range names {
		if n == "Cookie" {
			continue // sessions of a corporate proxy, not an account
		}
		for _, line := range h[n] {
			text, found = append(append(append(text, byte(i)), line...), 0), true
		}
	}
	if query != "" && len(keys) > 0 {
		for part := range strings.SplitSeq(query, "&") {
			if value, is := parameter(part, keys); is {
				text, found = append(append(append(text, 0xff), value...), 0), true
			}
		}
	}
	if !found {
		return 0
	}
	for i, n := range accounts {
		for _, line := range h[n] {
			text = append(append(append(text, byte(len(names)+i)), line...), 0)
		}
	}
	sum := sha256.Sum256(text)
	return max(binary.LittleEndian.Uint64(sum[:]), 1)
}
