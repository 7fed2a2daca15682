// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package callback

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

func TestMain(m *testing.M) { leaks.VerifyTestMain(m) }

var hosts = []string{"app.example.com", "*.hooks.example.com"}

// TestOnlyListedHostsOverHTTPS.
func TestOnlyListedHostsOverHTTPS(t *testing.T) {
	for _, url := range []string{"https://app.example.com", "https://APP.example.com:8443/done?x=1", "https://a.hooks.example.com/"} {
		if err := Check(url, hosts); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{
		"", "app.example.com", "//app.example.com", "http://app.example.com", "https:app.example.com", "https://", "https:///x",
		"https://evil.example.com", "https://app.example.com.evil.org", "https://hooks.example.com", "https://a.b.hooks.example.com",
		"https://.hooks.example.com", "https://user@app.example.com", "https://app.example.com@evil.org", "https://app.example.com#x",
		"https://app.example.com\\@evil.org", "https://127.0.0.1", "https://[::1]", "https://app.example.com/ x", "https://app.example.com/\n",
		"https://app.example.com/" + strings.Repeat("a", maxURL), "https://app.example.com.", "file:///etc/passwd", "https://a\uff0eb.hooks.example.com", "https://a\u3002.hooks.example.com", "https://\u212a.hooks.example.com",
	} {
		if err := Check(url, hosts); err == nil {
			t.Errorf("%q is allowed", url)
		}
	}
	if Check("https://app.example.com", nil) == nil {
		t.Error("without a list a host is allowed")
	}
}

// TestAddressesThatAreNotDialled: the pod itself, metadata, link-local and the like, however they are written.
func TestAddressesThatAreNotDialled(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1", "127.8.8.8", "::1", "0.0.0.0", "0.1.2.3", "::", "169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1",
		"255.255.255.255", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
		"2002:a9fe:a9fe::1", "::127.0.0.1", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "fe80::1%eth0",
	} {
		if err := checkAddress(net.JoinHostPort(address, "443")); !errors.Is(err, ErrRefusedAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"10.1.2.3", "192.168.1.1", "203.0.113.7", "2001:db8::1", "fd12::1"} {
		if err := checkAddress(net.JoinHostPort(address, "443")); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// receiver is a callback's server at names of the list; dial leads there, whatever the name.
func receiver(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	c, err := New(Options{ExtraCA: ca, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", srv.Listener.Addr().String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestADeliveryCarriesTheAnswer byte for byte, with what it is about.
func TestADeliveryCarriesTheAnswer(t *testing.T) {
	var got *http.Request
	var body []byte
	c := receiver(t, func(_ http.ResponseWriter, r *http.Request) { got = r; body, _ = io.ReadAll(r.Body) })
	d := &Delivery{URL: "https://example.com/done?x=1", Ticket: "0123", State: "Done", Status: 200, ContentType: "application/json", Body: []byte("a\x00\xff")}
	if err := c.Deliver(t.Context(), d, []string{"example.com"}); err != nil {
		t.Fatal(err)
	}
	if string(body) != "a\x00\xff" || got.Method != http.MethodPost || got.URL.String() != "/done?x=1" || got.Header.Get(HeaderTicket) != "0123" ||
		got.Header.Get(HeaderStatus) != "200" || got.Header.Get(HeaderState) != "Done" || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s %v %q", got.Method, got.URL, got.Header, body)
	}
	if err := c.Deliver(t.Context(), d, []string{"other.com"}); err == nil {
		t.Error("a host that is not listed any more got it")
	}
}

// TestCertificatesMayBecomeTrustedLater, and cease to be: a plan names them, and plans change.
func TestCertificatesMayBecomeTrustedLater(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c, err := New(Options{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", srv.Listener.Addr().String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	deliver := func() error {
		return c.Deliver(t.Context(), &Delivery{URL: "https://example.com/"}, []string{"example.com"})
	}
	var unknown x509.UnknownAuthorityError
	if err := deliver(); !errors.As(err, &unknown) {
		t.Errorf("without its certificate: %v", err)
	}
	if err := c.Trust([]byte("no certificate")); err == nil || !errors.As(deliver(), &unknown) {
		t.Errorf("a bundle that is none: %v", err)
	}
	if err := c.Trust(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})); err != nil || deliver() != nil {
		t.Errorf("with it: %v, %v", err, deliver())
	}
	if err := c.Trust(nil); err != nil || !errors.As(deliver(), &unknown) {
		t.Errorf("when it is trusted no more: %v", err)
	}
}

// TestRedirectsOfCallbacksAreNotFollowed, and are no success.
func TestRedirectsOfCallbacksAreNotFollowed(t *testing.T) {
	calls := 0
	c := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		http.Redirect(w, r, "https://example.com/other", http.StatusTemporaryRedirect)
	})
	err := c.Deliver(t.Context(), &Delivery{URL: "https://example.com/?token=secret"}, []string{"example.com"})
	if !errors.Is(err, ErrNotTaken) || calls != 1 || strings.Contains(err.Error(), "secret") {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestNoProxyStandsBeforeACallback, also once other certificates are trusted: it would look names up itself.
func TestNoProxyStandsBeforeACallback(t *testing.T) {
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		if c.transport.Load().Proxy != nil {
			t.Error("deliveries go by the proxies of the environment")
		}
		if err := c.Trust(nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestANameThatLeadsIntoThePodIsNotDialled: with the real dialler, whatever a resolver says.
func TestANameThatLeadsIntoThePodIsNotDialled(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was called") }))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Deliver(t.Context(), &Delivery{URL: "https://localhost:" + port + "/?token=secret"}, []string{"localhost"})
	if !errors.Is(err, ErrRefusedAddress) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

// FuzzCheck: what is allowed leads to a listed host over https, by the URL that net/http would use.
func FuzzCheck(f *testing.F) {
	for _, url := range []string{"https://app.example.com/x", "https://a.hooks.example.com", "https://app.example.com@evil.org", "https://app.example.com:443\\@x"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if Check(raw, hosts) != nil {
			return
		}
		r, err := http.NewRequest(http.MethodPost, raw, nil)
		if err != nil {
			t.Fatalf("%q is allowed and is no URL: %v", raw, err)
		}
		host := strings.ToLower(r.URL.Hostname())
		label, wild := strings.CutSuffix(host, ".hooks.example.com")
		if r.URL.Scheme != "https" || r.URL.User != nil || host != "app.example.com" && (!wild || label == "" || strings.Contains(label, ".")) {
			t.Fatalf("%q leads to %q", raw, r.URL)
		}
	})
}
