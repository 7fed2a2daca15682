// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// hopByHop headers belong to one connection (RFC 9110, 7.6.1) and do not pass.
var hopByHop = [...]string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// StripHopByHop removes what concerns one connection only.
func StripHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = textproto.TrimString(name); name != "" {
				h.Del(name)
			}
		}
	}
	for _, name := range hopByHop {
		delete(h, name)
	}
}

// OfConnection says that a header concerns one connection, or frames a request on it, for whoever reads it. That a client
// takes trailers is no secret of its connection: some send it to every server.
func OfConnection(name string, values []string) bool {
	if name == "Te" && slices.Equal(values, takesTrailers) {
		return false
	}
	return slices.Contains(hopByHop[:], name) || framesToSome(name)
}

var takesTrailers = []string{"trailers"}

// noAgent keeps net/http from adding its own User-Agent to a request that has none.
var noAgent = []string{""}

// PrepareRequest makes the headers of an app's request those of the call to the provider, in place.
func PrepareRequest(h http.Header) {
	StripHopByHop(h)
	// The body was read already: nothing is left to expect.
	delete(h, "Expect")
	for name := range h {
		if strings.HasPrefix(name, "Headgate-") || framesToSome(name) {
			delete(h, name)
		}
	}
	hideIdempotency(h)
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = noAgent
	}
}

// framesToSome finds names that some servers read as one that frames a request or belongs to its connection: where headers
// become variables, as with CGI, an underscore is a dash.
func framesToSome(name string) bool {
	if !strings.Contains(name, "_") {
		return false
	}
	name = strings.ReplaceAll(name, "_", "-")
	same := func(other string) bool { return strings.EqualFold(name, other) }
	return same("Content-Length") || same("Host") || slices.ContainsFunc(hopByHop[:], same)
}

// idempotencyKeys are what makes net/http take a POST for one that it may send again by itself, where a
// kept connection breaks before the answer. Such a send would pass no budget and be counted nowhere, and
// it may be the second one that is processed.
var idempotencyKeys = [...]string{"Idempotency-Key", "X-Idempotency-Key"}

// hideIdempotency keeps the keys under names that net/http does not look up. Case means nothing on the wire.
func hideIdempotency(h http.Header) {
	for _, name := range idempotencyKeys {
		if values, ok := h[name]; ok {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
}

// CopyResponse copies a provider's headers to the app's response.
func CopyResponse(dst, src http.Header) {
	StripHopByHop(src)
	for name, values := range src {
		dst[name] = values
	}
	if _, ok := dst["Content-Type"]; !ok {
		// What the provider does not say, the server must not guess.
		dst["Content-Type"] = nil
	}
}

// MeterableEncoding narrows what the app accepts to what the meter can read: gzip for a plain body,
// nothing for a stream, whose injected usage is taken out again as it passes.
func MeterableEncoding(h http.Header, stream bool) {
	accepts := h["Accept-Encoding"]
	if len(accepts) == 0 {
		return
	}
	if !stream {
		for _, line := range accepts {
			if acceptsGzip(line) {
				h["Accept-Encoding"] = gzipOnly
				return
			}
		}
	}
	h["Accept-Encoding"] = identity
}

var (
	gzipOnly = []string{"gzip"}
	identity = []string{"identity"}
)

func acceptsGzip(line string) bool {
	for part := range strings.SplitSeq(line, ",") {
		name, params, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q := strings.ReplaceAll(strings.TrimSpace(params), " ", "")
		return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
	}
	return false
}
