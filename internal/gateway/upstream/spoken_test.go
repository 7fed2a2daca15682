// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// TestErrorsOfASendRepeatNothingThatWasAnswered: whatever stands in the place of an answer, the text of the error has none
// of it, though a provider may repeat the key that it was sent; what is said of addresses and certificates stays whole.
func TestErrorsOfASendRepeatNothingThatWasAnswered(t *testing.T) {
	key := canary.Key("repeated")
	const good = "HTTP/1.1 200 OK\r\n"
	for name, answer := range map[string]string{
		"no HTTP":             `{"error":"wrong key KEY"}` + "\r\n\r\n",
		"a version":           "KEY 200 OK\r\n\r\n",
		"a status":            "HTTP/1.1 KEY\r\n\r\n",
		"a status of letters": "HTTP/1.1 20K KEY\r\n\r\n",
		"a line":              good + "Wrong KEY\r\n\r\n",
		"a value":             good + "Wrong: KEY\x00\r\n\r\n",
		"a name":              good + "KEY\x00: a\r\n\r\n",
		"a first line folded": good + " KEY\r\n\r\n",
		"a length":            good + "Content-Length: KEY\r\n\r\n",
		"two lengths":         good + "Content-Length: 1\r\nContent-Length: KEY\r\n\r\n",
		"a coding":            good + "Transfer-Encoding: KEY\r\n\r\n",
		"two codings":         good + "Transfer-Encoding: KEY\r\nTransfer-Encoding: chunked\r\n\r\n",
		"half a head":         good + "X: KEY",
		"a head without end":  good + "X: KEY" + strings.Repeat("x", maxHeader) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			err := answered(t, strings.ReplaceAll(answer, "KEY", key))
			if text := Spoken(err); text == "" || strings.Contains(text, key) || strings.ContainsAny(text, "\r\n\x00") || len(text) > 200 {
				t.Errorf("%v is spoken as %q", err, text)
			}
		})
	}
	for text, err := range map[string]error{
		"dial tcp: lookup " + `a"b` + ": no such host": &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: `a"b`}},
		"EOF":                                  &url.Error{Op: "Post", URL: "http://x/?key=" + key, Err: io.EOF},
		"context deadline exceeded":            &url.Error{Op: "Post", URL: key, Err: &url.Error{Op: "parse", URL: key, Err: context.DeadlineExceeded}},
		"http2: client connection lost":        errors.New("http2: client connection lost"),
		"http2: server sent GOAWAY, debug":     fmt.Errorf("http2: server sent GOAWAY, debug=%q", key),
		"its URL has an escape that is none":   url.EscapeError("%zz" + key),
		"its answer has a header that is none": fmt.Errorf("net/http: %w", textproto.ProtocolError("malformed MIME header line: "+key)),
		`tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x" while trying to verify candidate authority certificate "serial:0")`: errors.New(""),
	} {
		if strings.HasPrefix(text, "tls: ") {
			err = &tls.CertificateVerificationError{Err: errors.New(strings.TrimPrefix(text, "tls: failed to verify certificate: "))}
		}
		if got := Spoken(err); got != text {
			t.Errorf("%v is spoken as %q, want %q", err, got, text)
		}
	}
	if !ours(x509.UnknownAuthorityError{}) {
		t.Error("a certificate of nobody's is not told whole")
	}
}

// answered is the error of a send that is answered with these bytes.
func answered(t *testing.T, answer string) error {
	t.Helper()
	err := exchange(t, answer)
	if err == nil {
		t.Fatalf("%q was an answer", answer[:min(len(answer), 60)])
	}
	return err
}
