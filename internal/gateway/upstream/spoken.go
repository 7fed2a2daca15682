// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"errors"
	"net"
	"net/textproto"
	"net/url"
	"strings"
)

// maxWrapped bounds the errors that are looked into for a URL.
const maxWrapped = 8

// Spoken is the text of an error of a send, for callers and for logs. It says nothing that the other side said and nothing
// of the URL: net/http quotes an answer that is none, which may repeat the key it was sent, and a query may hold one.
func Spoken(err error) string {
	err = WithoutURL(err)
	var escape url.EscapeError
	var header textproto.ProtocolError
	switch {
	case errors.As(err, &escape):
		return "its URL has an escape that is none"
	case errors.As(err, &header):
		return "its answer has a header that is none"
	case ours(err):
		return err.Error()
	}
	text, _, quoted := strings.Cut(err.Error(), `"`)
	if !quoted {
		return text
	}
	return strings.TrimRight(text, " :;,=([{")
}

// WithoutURL is what an error says beneath the URLs that it carries.
func WithoutURL(err error) error {
	for range maxWrapped {
		var withURL *url.Error
		if !errors.As(err, &withURL) {
			break
		}
		err = withURL.Err
	}
	return err
}

// ours says that an error tells of addresses and certificates, and not of an answer.
func ours(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) || errors.Is(err, ErrRefusedAddress) || certificateWrong(err)
}
