// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package callback

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// maxURL bounds a callback.
const maxURL = 2 << 10

// Check refuses a URL that no answer may be delivered to. hosts are the policy's: names, or *.NAME for the names one
// label below NAME.
func Check(raw string, hosts []string) error {
	if len(raw) > maxURL {
		return fmt.Errorf("the URL has more than %d bytes", maxURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("it is no URL") // the error would quote it
	case u.Scheme != "https":
		return errors.New("the URL's scheme is not https")
	case u.Opaque != "" || u.Hostname() == "":
		return errors.New("the URL has no host")
	case u.User != nil:
		return errors.New("the URL holds a user or a password")
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return errors.New("the URL has a fragment")
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errors.New("the URL has a space or a control character")
	}
	if strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r > unicode.MaxASCII }) {
		// Some letters are others once they are sent: there are dots among them, which a label of a listed name has none of.
		return errors.New("the URL's host is not written in ASCII")
	}
	host := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(host); err == nil {
		return errors.New("the URL's host is an address, not a name")
	}
	if !Allowed(host, hosts) {
		return fmt.Errorf("the policy's callbackHosts do not list the host %q", host)
	}
	return nil
}

// Allowed says whether hosts list host, which is in lower case.
func Allowed(host string, hosts []string) bool {
	for _, h := range hosts {
		if h == host {
			return true
		}
		name, wild := strings.CutPrefix(h, "*.")
		label, rest, found := strings.Cut(host, ".")
		if wild && found && label != "" && rest == name {
			return true
		}
	}
	return false
}
