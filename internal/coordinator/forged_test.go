// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// parts are a token's header, claims and signature, decoded.
func parts(t *testing.T, token string) (out [3][]byte) {
	t.Helper()
	for i, part := range strings.SplitN(token, ".", 3) {
		var err error
		out[i], err = base64.RawURLEncoding.DecodeString(part)
		must(t, err)
	}
	return out
}

func joined(header, claims, signature []byte) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode(header) + "." + encode(claims) + "." + encode(signature)
}

// resigned is the token with other times, of which it ends in so long, signed with a key.
func resigned(t *testing.T, token string, key *ecdsa.PrivateKey, ends time.Duration) string {
	t.Helper()
	p := parts(t, token)
	var claims map[string]any
	must(t, json.Unmarshal(p[1], &claims))
	claims["iat"], claims["nbf"], claims["exp"] = time.Now().Add(ends-time.Hour).Unix(), time.Now().Add(ends-time.Hour).Unix(), time.Now().Add(ends).Unix()
	changed, err := json.Marshal(claims)
	must(t, err)
	text := strings.TrimSuffix(joined(p[0], changed, nil), ".")
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	must(t, err)
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// unsigned is the token that says that it needs no signature.
func unsigned(t *testing.T, token string) string {
	t.Helper()
	return joined([]byte(`{"alg":"none","typ":"JWT"}`), parts(t, token)[1], nil)
}

func otherKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	return key
}
