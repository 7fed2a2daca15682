// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/headgate-dev/headgate/internal/addresses"
)

// metadataHosts serve a machine's credentials to whoever asks. The gateway refuses their addresses again
// when it dials, since a name can resolve to anything.
var metadataHosts = []string{
	"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal",
}

// gatewayPort is where the gateway listens on loopback: a URL there would call itself for ever.
const gatewayPort = "15080"

// baseURLProblem says what is wrong with a provider's URL and what to write instead; empty if nothing is.
func baseURLProblem(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "is not a URL: write it like https://llm.example.com"
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return "must begin with https:// or http://"
	case u.Host == "" || u.Hostname() == "":
		return "has no host: write it like https://llm.example.com"
	case u.User != nil:
		return "must not hold a user or password: put the key in the Secret headgate-credentials and name it in credentialKey"
	case u.RawQuery != "" || u.ForceQuery:
		return "must not have a query: leave out everything from the question mark"
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return "must not have a fragment: leave out everything from the #"
	case pathProblem(u.Path):
		return "has a path with empty or dot elements: write the path plainly"
	case portProblem(u):
		return "has a port that is not a number from 1 to 65535"
	}
	return hostProblem(u)
}

func pathProblem(p string) bool {
	trimmed := strings.TrimSuffix(p, "/")
	return trimmed != "" && path.Clean(trimmed) != trimmed
}

func portProblem(u *url.URL) bool {
	if u.Port() == "" {
		return strings.HasSuffix(u.Host, ":")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err != nil || port == 0
}

func hostProblem(u *url.URL) string {
	host := hostOf(u)
	if address, err := netip.ParseAddr(host); err == nil {
		return addressProblem(address, u.Port())
	}
	switch {
	case slices.Contains(metadataHosts, host):
		return "names a metadata service, which hands out the machine's credentials: it is refused"
	case len(validation.IsDNS1123Subdomain(host)) > 0 || endsInNumber(host):
		return "has a host that is neither a DNS name nor an IP address"
	case host == "localhost" && u.Port() == gatewayPort:
		return callsItself
	}
	return ""
}

const callsItself = "is the gateway's own address, so that it would call itself: state the provider's"

func addressProblem(address netip.Addr, port string) string {
	switch {
	case addresses.ServesCredentials(address):
		return "is a link-local or metadata address, which hands out the machine's credentials: it is refused"
	case addresses.NoHost(address):
		return "is not the address of one host"
	}
	if plainAddress(address).IsLoopback() && port == gatewayPort {
		return callsItself
	}
	return ""
}

// plainAddress takes the IPv4 address out of the IPv6 forms that reach the same host.
func plainAddress(address netip.Addr) netip.Addr {
	address = address.Unmap().WithZone("")
	if carried, ok := addresses.Carried(address); ok && !address.IsLoopback() {
		return carried
	}
	return address
}

// endsInNumber finds the old spellings of IPv4 addresses (2852039166, 0xa9.254) that some resolvers accept.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil || strings.Trim(last, "0123456789") == ""
}

func hostOf(u *url.URL) string {
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// isPublic says whether a host is likely outside the cluster and the company: an address outside the private
// ranges, or a name under a public suffix.
func isPublic(u *url.URL) bool {
	host := hostOf(u)
	if address, err := netip.ParseAddr(host); err == nil {
		address = plainAddress(address)
		return !address.IsPrivate() && !address.IsLoopback()
	}
	if !strings.Contains(host, ".") {
		return false
	}
	return !slices.ContainsFunc(privateSuffixes, func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}

// privateSuffixes are never delegated on the Internet, or are a cluster's own.
var privateSuffixes = []string{
	".svc", ".cluster.local", ".local", ".localhost", ".internal", ".intranet", ".corp", ".home.arpa", ".test",
	".lan", ".home", ".private",
}
