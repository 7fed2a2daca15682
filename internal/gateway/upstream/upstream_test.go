// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMetadataAddressesAreRefusedAtDial(t *testing.T) {
	refused := []string{
		"169.254.169.254:80", "169.254.0.1:443", "[fe80::1]:443", "[fe80::1%eth0]:443", "[fd00:ec2::254]:80",
		"[::ffff:169.254.169.254]:80", "[64:ff9b::a9fe:a9fe]:80", "0.0.0.0:80", "[::]:80", "224.0.0.1:80",
		"100.100.100.200:80", "[fd00:ec2::23]:80", "[fd00:c1::a9fe:a9fe]:80", "[fd00:42::42]:80", "[fd20:ce::254]:80",
		"192.0.0.192:80", "168.63.129.16:80",
		"[64:ff9b::6464:64c8]:80", "[64:ff9b::a83f:8110]:80", "[64:ff9b:1::a9fe:a9fe]:80", "[::ffff:0:a9fe:a9fe]:80",
		"[2002:a9fe:a9fe::1]:80", "[2002:6464:64c8::]:80", "[::169.254.169.254]:80", "[::ffff:100.100.100.200]:80",
	}
	for _, address := range refused {
		if err := CheckAddress(address); !errors.Is(err, ErrRefusedAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{
		"127.0.0.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80", "10.0.0.1:443", "[2606:4700::1]:443", "[fd12::1]:443",
		"[64:ff9b::a00:1]:443", "api.openai.com:443",
	} {
		if err := CheckAddress(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestTransportRefusesWhatANameResolvesTo(t *testing.T) {
	tr, err := NewTransport(Options{Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(http.MethodGet, "http://169.254.169.254/latest/meta-data", nil)
	req.RequestURI = ""
	resp, err := tr.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if !errors.Is(err, ErrRefusedAddress) || !NothingSent(err) || !Misconfigured(err) {
		t.Errorf("RoundTrip = %v", err)
	}
}

func TestA17HopByHopHeadersStayAndAllOthersPass(t *testing.T) {
	h := http.Header{
		"Connection": {"close, X-Private"}, "X-Private": {"1"}, "Te": {"trailers"}, "Upgrade": {"h2c"},
		"Proxy-Authorization": {"Basic x"}, "Expect": {"100-continue"}, "Headgate-Deadline": {"3s"},
		"Authorization": {"Bearer k"}, "X-Stainless-Lang": {"go"},
	}
	PrepareRequest(h)
	want := http.Header{"Authorization": {"Bearer k"}, "X-Stainless-Lang": {"go"}, "User-Agent": {""}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Error(diff)
	}
}

func TestAcceptedEncodingsAreNarrowedToWhatIsMetered(t *testing.T) {
	cases := map[string]struct {
		accepts string
		stream  bool
		want    string
	}{
		"none stays none":      {"", false, ""},
		"browser-like":         {"gzip, deflate, br", false, "gzip"},
		"only brotli":          {"br", false, "identity"},
		"gzip refused":         {"br, gzip;q=0", false, "identity"},
		"stream":               {"gzip", true, "identity"},
		"gzip with preference": {"br;q=0.5, GZIP;q=0.9", false, "gzip"},
	}
	for name, tc := range cases {
		h := http.Header{}
		if tc.accepts != "" {
			h.Set("Accept-Encoding", tc.accepts)
		}
		MeterableEncoding(h, tc.stream)
		if got := h.Get("Accept-Encoding"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestOnlyAFailedConnectionProvesThatNothingWasSent(t *testing.T) {
	if !NothingSent(&net.OpError{Op: "dial", Err: errors.New("refused")}) {
		t.Error("a refused connection is not recognised")
	}
	if !NothingSent(errors.New("http: server closed idle connection")) {
		t.Error("a connection that had been closed before is not recognised")
	}
	for _, err := range []error{nil, errors.New("EOF"), &net.OpError{Op: "read", Err: errors.New("reset")}} {
		if NothingSent(err) {
			t.Errorf("%v is taken as proof", err)
		}
	}
}

// TestTransportRepeatsNothingByItself: a POST that breaks on a kept connection was read by the server, and
// may have been processed, whatever key it carries.
func TestTransportRepeatsNothingByItself(t *testing.T) {
	for _, key := range []string{"", "Idempotency-Key", "X-Idempotency-Key"} {
		var arrivals, keyed atomic.Int32
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Header.Get("Idempotency-Key")+r.Header.Get("X-Idempotency-Key") == "k-1" {
				keyed.Add(1)
			}
			if arrivals.Add(1) > 1 {
				panic(http.ErrAbortHandler)
			}
		}))
		tr, err := NewTransport(Options{Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			body := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("{}")), nil }
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			req.GetBody = body
			if key != "" {
				req.Header.Set(key, "k-1")
			}
			PrepareRequest(req.Header)
			resp, err := tr.RoundTrip(req)
			if (err != nil) != (i == 1) || err != nil && NothingSent(err) {
				t.Errorf("%q, call %d: %v", key, i, err)
			}
			if err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}
		if arrivals.Load() != 2 || key != "" && keyed.Load() != 2 {
			t.Errorf("%q: two calls arrived %d times, %d with their key", key, arrivals.Load(), keyed.Load())
		}
		tr.CloseIdleConnections()
		srv.Close()
	}
}
