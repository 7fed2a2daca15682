// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// ErrRefusedAddress says that an address is one no provider lives at.
var ErrRefusedAddress = errors.New("link-local and metadata addresses are not dialled")

// metadata services that are not link-local.
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("fd00:ec2::254"):   true, // AWS
	netip.MustParseAddr("fd20:ce::254"):    true, // Google Cloud
	netip.MustParseAddr("100.100.100.200"): true, // Alibaba Cloud
	netip.MustParseAddr("168.63.129.16"):   true, // Azure
	netip.MustParseAddr("192.0.0.192"):     true, // Oracle Cloud
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
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() || metadata[ip] || hidesLinkLocal(ip) {
		return fmt.Errorf("%w: %s", ErrRefusedAddress, ip)
	}
	return nil
}

// hidesLinkLocal finds 169.254.x.x behind NAT64's well-known prefix.
func hidesLinkLocal(ip netip.Addr) bool {
	if !nat64.Contains(ip) {
		return false
	}
	b := ip.As16()
	return netip.AddrFrom4([4]byte(b[12:])).IsLinkLocalUnicast()
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// CheckHost is CheckAddress for a host and a port apart.
func CheckHost(host, port string) error { return CheckAddress(net.JoinHostPort(host, port)) }
