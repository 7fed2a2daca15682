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
	if carried, ok := upstream.Carried(ip); ok {
		return checkAddress(net.JoinHostPort(carried.String(), port))
	}
	return nil
}
