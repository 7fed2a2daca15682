// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/credential"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
)

// useKey chooses the gateway's own key to send the call with, "" for the app's. A signature reaches the provider only
// with the app's: a key of the gateway's takes its place.
func (c *call) useKey(key string) {
	c.key = key
	c.signed = key == "" && credential.Signed(c.r.Header, c.r.URL.RawQuery)
}

// prepareHeaders makes the headers of an app's request those of the call to the provider. A signed request keeps
// all else that the signature covers, or the provider would refuse it.
func (c *call) prepareHeaders(h http.Header) {
	if !c.signed {
		upstream.PrepareRequest(h)
		if c.op.Metered {
			upstream.MeterableEncoding(h, c.req.Stream)
		}
		return
	}
	covered := http.Header{}
	for name, values := range h {
		// What frames a call or belongs to a connection stays here, whatever the caller says of a signature that only the
		// provider can verify: one that covers it is void, and no call hides in another.
		if credential.Covers(h, c.r.URL.RawQuery, name) && !upstream.OfConnection(name, values) {
			covered[name] = values
		}
	}
	upstream.PrepareRequest(h)
	for name, values := range covered {
		// Some are kept under their name in lower case, which is the same on the wire.
		if h[name] == nil && h[strings.ToLower(name)] == nil {
			h[name] = values
		}
	}
}
