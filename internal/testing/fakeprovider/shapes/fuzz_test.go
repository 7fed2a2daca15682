// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package shapes_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/shapes"
)

// FuzzAnyCallIsAnswered: whatever arrives, on whatever path and with whatever credentials, is answered and logged,
// and costs no less than nothing.
func FuzzAnyCallIsAnswered(f *testing.F) {
	for _, s := range shapes.All() {
		f.Add(s.At(s.Path), "Bearer sk-test", s.Body)
		f.Add(s.At(s.StreamPath), "Bearer sk-test", s.StreamBody)
	}
	f.Add("/_p/bedrock/model/m/converse", "AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/eu-central-1/bedrock/aws4_request, "+
		"SignedHeaders=content-length;host;x-amz-date, Signature=00", "{}")
	f.Add("/_fake/reset", "", "")
	f.Add("/_p/", "AWS4-HMAC-SHA256 ,,=,SignedHeaders=;;", "[]")
	provider := fakeprovider.New(fakeprovider.Options{
		AWSSecrets: map[string]string{"AKIATEST": "secret"}, MaxAccounts: 8, MaxArrivals: 8,
	})
	f.Fuzz(func(t *testing.T, path, authorization, body string) {
		at, err := url.ParseRequestURI(path)
		if err != nil || len(body) > 1<<16 || strings.HasPrefix(at.Path, "/_fake/") {
			return // what a test says to the provider is no call
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.URL = at
		r.Header.Set("Authorization", authorization)
		r.Header.Set("X-Amz-Date", "20260101T000000Z")
		r.Header.Set("X-Fake-Output-Tokens", "3")
		provider.ServeHTTP(httptest.NewRecorder(), r)
		arrivals := provider.Arrivals()
		if a := arrivals[len(arrivals)-1]; a.Status == 0 || a.InputTokens < 0 || a.OutputTokens < 0 || a.AllowedTokens < 0 {
			t.Errorf("arrival = %+v", a)
		}
	})
}
