// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credentials

import (
	"net"
	"net/url"
	"strings"
	"unicode"
)

// maxHosts bounds the entries of one hosts file.
const maxHosts = 64

// parseHosts reads one host or host:port a line; # starts a comment.
func parseHosts(text string) []string {
	var hosts []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, h := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r <= ' ' }) {
			if len(hosts) == maxHosts {
				return hosts
			}
			if h = strings.ToLower(strings.TrimSuffix(h, ".")); h != "" {
				hosts = append(hosts, h)
			}
		}
	}
	return hosts
}

// allows says whether hosts lists u's host. An entry without a port allows every port of the host: the
// certificate binds the name, not the port.
func allows(hosts []string, u *url.URL) bool {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > unicode.MaxASCII }) {
		return false // some letters are others once they are small or sent: a key goes to what is written
	}
	if host == "" {
		return false // an entry that is a port alone names no host
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	for _, h := range hosts {
		if h == host || h == "["+host+"]" || h == net.JoinHostPort(host, port) {
			return true
		}
	}
	return false
}
