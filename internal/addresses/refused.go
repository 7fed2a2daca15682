// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package addresses

import (
	"net/netip"
	"slices"
)

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

// thisNetwork is 0.0.0.0 and what stands for it, which the kernel takes for the machine itself.
var thisNetwork = netip.MustParsePrefix("0.0.0.0/8")

// Refused says that nothing may be sent to an address, and nobody means to.
func Refused(ip netip.Addr) bool { return ServesCredentials(ip) || NoHost(ip) }

// ServesCredentials says that an address is link-local or a metadata service's.
func ServesCredentials(ip netip.Addr) bool {
	return either(ip, func(ip netip.Addr) bool {
		return ip.IsLinkLocalUnicast() || slices.ContainsFunc(metadata, func(p netip.Prefix) bool { return p.Contains(ip) })
	})
}

// NoHost says that an address is not one host's.
func NoHost(ip netip.Addr) bool {
	return either(ip, func(ip netip.Addr) bool {
		return ip.IsMulticast() || ip.IsUnspecified() || thisNetwork.Contains(ip) || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255})
	})
}

// either asks of the address, and of one that it carries.
func either(ip netip.Addr, what func(netip.Addr) bool) bool {
	ip = ip.Unmap().WithZone("")
	carried, carries := Carried(ip)
	// ::1 is in the prefix of the IPv4-compatible ones, and carries none.
	return what(ip) || carries && !ip.IsLoopback() && what(carried)
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
