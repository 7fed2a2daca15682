// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/addresses"
)

// FuzzPrepareRequest: whatever a caller names in Connection, nothing of one connection passes, and nothing of ours.
func FuzzPrepareRequest(f *testing.F) {
	f.Add("close, X-A", "X-A", "1")
	f.Add("Content-Type,\t,,upgrade", "Upgrade", "h2c")
	f.Add("", "Headgate-Deadline", "1s")
	f.Add("Connection", "Idempotency-Key", "k")
	f.Add("", "Transfer_encoding", "chunked")
	f.Add("", "content_Length", "5")
	f.Add("X-A\f", "X-A", "1") // no name, and no blank that HTTP knows
	f.Add("\n", "\n", "1")
	f.Fuzz(func(t *testing.T, connection, name, value string) {
		if strings.ContainsAny(connection+name, "\r\n") {
			return // no header that came over a connection holds the end of a line
		}
		h := http.Header{"Connection": {connection}, "Te": {"trailers"}, "Transfer-Encoding": {"chunked"}, "Expect": {"100-continue"}}
		h.Set(name, value)
		PrepareRequest(h)
		for _, gone := range append([]string{"Expect", "Idempotency-Key"}, hopByHop[:]...) {
			if values, ok := h[gone]; ok {
				t.Errorf("%s passes: %q", gone, values)
			}
		}
		for left := range h {
			if strings.HasPrefix(left, "Headgate-") {
				t.Errorf("%s passes", left)
			}
			if strings.Contains(left, "_") && slices.ContainsFunc(append(hopByHop[:], "Host", "Content-Length"), func(n string) bool { return strings.EqualFold(n, strings.ReplaceAll(left, "_", "-")) }) {
				t.Errorf("%s passes, which some read as framing", left)
			}
			for named := range strings.SplitSeq(connection, ",") {
				if named = strings.Trim(named, " \t"); named != "" && http.CanonicalHeaderKey(named) == left && left != "User-Agent" && !strings.EqualFold(name, "connection") {
					t.Errorf("%s passes, which is of the connection", left)
				}
			}
		}
	})
}

// FuzzCheckAddress: however a link-local or metadata address is spelt, it is refused if it would be dialled.
func FuzzCheckAddress(f *testing.F) {
	for _, seed := range []string{
		"169.254.169.254:80", "[::ffff:169.254.169.254]:80", "[64:ff9b::a9fe:a9fe]:80", "[fe80::1%eth0]:80", "[fd00:ec2::254]:80", "0.0.0.0:1",
		"[::]:1", "224.0.0.1:1", "127.0.0.1:1", "example.com:443", ":80", "[::1]", "1", "0251.0376.0251.0376:80", "[::ffff:a9fe:a9fe%1]:80",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if CheckAddress(address) != nil {
			return
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatalf("%q has no host and passes", address)
		}
		ip, err := netip.ParseAddr(host)
		if err != nil {
			return // a name, which is looked at once it is resolved
		}
		ip = ip.WithZone("").Unmap()
		b := ip.As16()
		nat64 := strings.HasPrefix(string(b[:]), "\x00\x64\xff\x9b"+strings.Repeat("\x00", 8)) && b[12] == 169 && b[13] == 254
		six := ip.Is6() && b[0] == 0x20 && b[1] == 2 && b[2] == 169 && b[3] == 254
		if ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() || addresses.Refused(ip) || nat64 || six {
			t.Errorf("%q passes", address)
		}
	})
}
