// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package callback

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// TestErrorsOfADeliveryRepeatNothingOfIt: neither the URL's query nor what the callback's host sends back, which may be what it
// was sent.
func TestErrorsOfADeliveryRepeatNothingOfIt(t *testing.T) {
	secret := canary.Key("of-a-delivery")
	for _, answer := range []string{"", secret + " 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: " + secret + "\r\n\r\n"} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}))
		c, err := New(Options{
			ExtraCA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		// The certificate of the tests is for this name.
		d := &Delivery{URL: "https://example.com/?token=" + secret, Ticket: "t", State: "Done", Status: 200, Body: []byte(secret)}
		err = c.Deliver(t.Context(), d, []string{"example.com"})
		if err == nil || strings.Contains(err.Error(), secret) || answer != "" && !strings.Contains(err.Error(), "HTTP") && !strings.Contains(err.Error(), "header") {
			t.Errorf("%q: %v", answer, err)
		}
		c.Close()
		server.Close()
	}
}
