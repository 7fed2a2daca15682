// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package callback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/headgate-dev/headgate/internal/gateway/upstream"
)

// ErrRefusedAddress says that a callback's name leads where no answer is delivered.
var ErrRefusedAddress = errors.New("the callback's name leads to an address that answers are not delivered to")

// control looks at the resolved address, right before the connection is made.
func control(_ context.Context, _, address string, _ syscall.RawConn) error {
	return checkAddress(address)
}

// checkAddress refuses what no provider lives at either, and the pod itself: there are the gateway, which would call
// itself, and ports of other containers that trust the loopback address. Private addresses are allowed, since the
// services of a cluster have no others; the list of hosts is what bounds them.
func checkAddress(address string) error {
	if err := upstream.CheckAddress(address); err != nil {
		return fmt.Errorf("%w: %w", ErrRefusedAddress, err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefusedAddress, err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return fmt.Errorf("%w: %s is no address", ErrRefusedAddress, host)
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() || ip.Is4() && ip.As4()[0] == 0 || ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return fmt.Errorf("%w: %s", ErrRefusedAddress, ip)
	}
	if hidden, ok := within(ip); ok {
		return checkAddress(net.JoinHostPort(hidden.String(), port))
	}
	return nil
}

// carriers are the prefixes of IPv6 that carry an IPv4 address, by where it begins.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible
}

// within is the IPv4 address that an IPv6 address carries.
func within(ip netip.Addr) (netip.Addr, bool) {
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
