// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

const (
	signatureAlgorithm = "AWS4-HMAC-SHA256"
	amzTime            = "20060102T150405Z"
	// maxSignatureAge is how far the time of a signature may be from the provider's clock.
	maxSignatureAge = 5 * time.Minute
	unsignedPayload = "UNSIGNED-PAYLOAD"
)

// What AWS says of a request whose credentials it does not like. They are no secrets.
const (
	wrongSignature = "The request signature we calculated does not match the signature you provided. Check your AWS " +
		"Secret Access Key and signing method. Consult the service documentation for details."
	unknownKey   = "The security token included in the request is invalid."
	staleRequest = "Signature expired or not yet current: the time of the request is too far from that of the service."
)

// signature is what the Authorization header of a signed request says.
type signature struct {
	keyID   string
	region  string
	service string
	headers []string
	value   string
}

func isSigned(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), signatureAlgorithm+" ")
}

// readSignature reads the header; what is not there stays empty.
func readSignature(h http.Header) signature {
	var out signature
	_, rest, _ := strings.Cut(h.Get("Authorization"), " ")
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "Credential":
			const parts = 5 // key, date, region, service, aws4_request
			if scope := strings.Split(value, "/"); len(scope) == parts {
				out.keyID, out.region, out.service = scope[0], scope[2], scope[3]
			}
		case "SignedHeaders":
			out.headers = strings.Split(value, ";")
		case "Signature":
			out.value = value
		}
	}
	return out
}

// checkSignature computes the signature of the request as it arrived and compares.
func (c *call) checkSignature(body []byte) (problem string, status int) {
	if len(c.s.opts.AWSSecrets) == 0 {
		return "", 0
	}
	got := readSignature(c.r.Header)
	secret, ok := c.s.opts.AWSSecrets[got.keyID]
	at, err := time.Parse(amzTime, c.r.Header.Get("X-Amz-Date"))
	switch {
	case !ok:
		return unknownKey, http.StatusForbidden
	case err != nil || c.s.clock().Sub(at).Abs() > maxSignatureAge:
		return staleRequest, http.StatusForbidden
	}
	want, err := c.sign(got, secret, at, body)
	if err != nil || !hmac.Equal([]byte(want), []byte(got.value)) {
		return wrongSignature, http.StatusForbidden
	}
	return "", 0
}

// sign signs the request as it arrived, with the headers its own signature covers.
func (c *call) sign(as signature, secret string, at time.Time, body []byte) (string, error) {
	address := *c.r.URL // the signer may change it
	r := &http.Request{Method: c.r.Method, URL: &address, Host: c.r.Host, Header: http.Header{}}
	for _, name := range as.headers {
		switch name {
		case "host": // the signer adds it
		case "content-length":
			r.ContentLength = int64(len(body))
		default:
			r.Header[http.CanonicalHeaderKey(name)] = c.r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	if c.r.Header.Get("X-Amz-Content-Sha256") == unsignedPayload {
		hash = unsignedPayload
	}
	credentials := aws.Credentials{
		AccessKeyID: as.keyID, SecretAccessKey: secret, SessionToken: c.r.Header.Get("X-Amz-Security-Token"),
	}
	err := v4.NewSigner().SignHTTP(c.r.Context(), credentials, r, hash, as.service, as.region, at)
	return readSignature(r.Header).value, err
}
