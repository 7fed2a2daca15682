// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package storeurl

import (
	"net/netip"
	"strconv"
	"strings"
)

// Named are the characters of a name, of a server's or a prefix.
const Named = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// IsServer says whether a host and port of a URL can be reached: clients take brackets and more for names. No port is the
// store's own.
func IsServer(host, port string) bool {
	// The zone of an address may be anything.
	name := host
	if ip, err := netip.ParseAddr(host); err == nil {
		name = ip.Zone()
	}
	if host == "" || strings.Trim(name, Named) != "" {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}
