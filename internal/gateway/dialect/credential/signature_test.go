// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"net/http"
	"strings"
	"testing"
)

const sigV4 = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260615/us-east-1/bedrock/aws4_request, " +
	"SignedHeaders=accept-encoding;content-type;host;x-amz-date, Signature=5da7c1a2"

const presigned = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20260615%2Fus-east-1%2Fbedrock%2Faws4_request" +
	"&X-Amz-Date=20260615T120000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bcontent-type&X-Amz-Signature=5da7c1a2"

// TestSigned: what is signed, what the signature covers, and whose it is.
func TestSigned(t *testing.T) {
	cases := map[string]struct {
		header  http.Header
		query   string
		signed  bool
		covered string
	}{
		"in a header":    {http.Header{"Authorization": {sigV4}}, "", true, "Accept-Encoding"},
		"in the query":   {http.Header{}, presigned, true, "Content-Type"},
		"asymmetric":     {http.Header{"Authorization": {strings.Replace(sigV4, "AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256", 1)}}, "", true, "X-Amz-Date"},
		"a key":          {http.Header{"Authorization": {"Bearer Credential=AKIDEXAMPLE/x, SignedHeaders=host"}}, "", false, ""},
		"nothing":        {nil, "", false, ""},
		"another query":  {nil, "X-Amz-Date=20260615T120000Z", false, ""},
		"a broken list":  {http.Header{"Authorization": {"AWS4-HMAC-SHA256 "}}, "", true, ""},
		"only its first": {http.Header{"Authorization": {"AWS4-HMAC-SHA256 Credential="}}, "", true, ""},
	}
	for name, tc := range cases {
		if got := Signed(tc.header, tc.query); got != tc.signed {
			t.Errorf("%s: signed %v", name, got)
		}
		for _, header := range []string{"Accept-Encoding", "Content-Type", "X-Amz-Date", "User-Agent", "X-Headgate"} {
			covered := strings.EqualFold(header, tc.covered)
			if got := Covers(tc.header, tc.query, header); covered && !got {
				t.Errorf("%s: does not cover %s", name, header)
			} else if got && (tc.covered == "" || header == "User-Agent" || header == "X-Headgate") {
				t.Errorf("%s: covers %s", name, header)
			}
		}
		if signer := SignerOf(tc.header, tc.query); (signer != 0) != (tc.covered != "") {
			t.Errorf("%s: signer %d", name, signer)
		}
	}
}

// TestSignersAreKeysNotSignatures: no two signatures of one key are alike, but the key is one.
func TestSignersAreKeysNotSignatures(t *testing.T) {
	again := strings.NewReplacer("5da7c1a2", "00000000", "20260615", "20260616").Replace(sigV4)
	other := strings.Replace(sigV4, "AKIDEXAMPLE", "AKIDANOTHER", 1)
	first := SignerOf(http.Header{"Authorization": {sigV4}}, "")
	if SignerOf(http.Header{"Authorization": {again}, "X-Amz-Security-Token": {"t"}}, "") != first {
		t.Error("the second signature of a key is another account")
	}
	if SignerOf(http.Header{"Authorization": {other}}, "") == first {
		t.Error("another key is the same account")
	}
	if SignerOf(nil, presigned) != first {
		t.Error("a presigned URL of the key is another account")
	}
}

// TestASignatureGoesAsAWhole: with its date, its token and its parameters, and nothing else goes with it.
func TestASignatureGoesAsAWhole(t *testing.T) {
	h := http.Header{
		"X-Amz-Date": {"20260615T120000Z"}, "X-Amz-Security-Token": {"t"}, "X-Amz-Content-Sha256": {"e3b0"},
		"X-Amzn-Bedrock-Trace": {"ENABLED"}, "Content-Type": {"application/json"},
	}
	if got := WithoutSignature(h, presigned+"&a=1"); got != "a=1" {
		t.Errorf("query %q", got)
	}
	if len(h) != 2 || h.Get("X-Amzn-Bedrock-Trace") == "" {
		t.Errorf("%v", h)
	}
}

// FuzzSignature: no header and no query is too strange, and what covers nothing is nobody's.
func FuzzSignature(f *testing.F) {
	f.Add(sigV4, "")
	f.Add("", presigned)
	f.Add("AWS4-HMAC-SHA256 Credential=,SignedHeaders=;;", "X-Amz-Signature=%zz&X-Amz-Credential=%2f")
	f.Fuzz(func(t *testing.T, authorization, query string) {
		h := http.Header{"Authorization": {authorization}}
		signed := Signed(h, query)
		if !signed && SignerOf(h, "") != 0 && !strings.HasPrefix(authorization, signatureScheme) {
			t.Error("a signer of a request that is not signed")
		}
		Covers(h, query, "Host")
		rest := WithoutSignature(h, query)
		if len(rest) > len(query) || Signed(nil, rest) {
			t.Errorf("%q became %q", query, rest)
		}
	})
}
