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

	"github.com/headgate-dev/headgate/internal/addresses"
)

// ErrRefusedAddress says that an address is one no provider lives at.
var ErrRefusedAddress = errors.New("link-local and metadata addresses are not dialled")

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
	if addresses.Refused(ip) {
		return fmt.Errorf("%w: %s", ErrRefusedAddress, ip.Unmap().WithZone(""))
	}
	return nil
}

// Carried is the IPv4 address that an IPv6 address carries.
func Carried(ip netip.Addr) (netip.Addr, bool) { return addresses.Carried(ip) }

// CheckHost is CheckAddress for a host and a port apart.
func CheckHost(host, port string) error { return CheckAddress(net.JoinHostPort(host, port)) }
