// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// ErrRefusedAddress says that an address is one no provider lives at.
var ErrRefusedAddress = errors.New("link-local and metadata addresses are not dialled")

// metadata services, and what clouds serve beside them, that are not link-local.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),          // AWS: metadata, credentials of pods, name service, time
	netip.MustParsePrefix("fd20:ce::254/128"),       // Google Cloud
	netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), // Oracle Cloud
	netip.MustParsePrefix("fd00:42::42/128"),        // Scaleway
	netip.MustParsePrefix("100.100.100.200/32"),     // Alibaba Cloud
	netip.MustParsePrefix("168.63.129.16/32"),       // Azure
	netip.MustParsePrefix("192.0.0.192/32"),         // Oracle Cloud
}

// control looks at the resolved address, right before the connection is made.
func control(_ context.Context, _, address string, _ syscall.RawConn) error {
	return CheckAddress(address)
}

// CheckAddress refuses addresses that no policy may aim at; address is HOST:PORT with a literal host.
// Names are not refused: they are looked at once they are resolved.
func CheckAddress(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return nil //nolint:nilerr // a name
	}
	ip = ip.Unmap().WithZone("")
	carried, carries := Carried(ip)
	// ::1 is in the prefix of the IPv4-compatible ones, and carries none.
	if refused(ip) || carries && !ip.IsLoopback() && refused(carried) {
		return fmt.Errorf("%w: %s", ErrRefusedAddress, ip)
	}
	return nil
}

func refused(ip netip.Addr) bool {
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return true
	}
	return slices.ContainsFunc(metadata, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// carriers are the prefixes of IPv6 that carry an IPv4 address, by where it begins: what routes them delivers to that.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64 of a network's own, in its usual form
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // IPv4-translated
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible
}

// Carried is the IPv4 address that an IPv6 address carries.
func Carried(ip netip.Addr) (netip.Addr, bool) {
	if !ip.Is6() {
		return netip.Addr{}, false
	}
	b := ip.As16()
	for _, c := range carriers {
		if c.prefix.Contains(ip) {
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4])), true
		}
	}
	return netip.Addr{}, false
}

// CheckHost is CheckAddress for a host and a port apart.
func CheckHost(host, port string) error { return CheckAddress(net.JoinHostPort(host, port)) }
