// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// NothingSent says that err proves that no byte of the request left: the connection was never made. Any
// other error leaves it open whether the provider has processed the call.
func NothingSent(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	return handshakeFailed(err) || closedIdle(err)
}

// closedIdle says that a kept connection had been closed before the request was written to it; net/http has
// no type for that, and does not repeat a POST for it.
func closedIdle(err error) bool {
	return err != nil && err.Error() == "http: server closed idle connection"
}

// Misconfigured says that trying again cannot help: the address is refused or the certificate is wrong.
func Misconfigured(err error) bool {
	return errors.Is(err, ErrRefusedAddress) || certificateWrong(err)
}

func handshakeFailed(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	// net/http has no type for its own handshake timeout.
	return certificateWrong(err) || errors.As(err, &record) || errors.As(err, &alert) ||
		err != nil && err.Error() == "net/http: TLS handshake timeout"
}

func certificateWrong(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname)
}
