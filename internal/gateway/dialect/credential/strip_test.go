// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"net/http"
	"testing"
)

// TestStripLeavesNothingOfTheAccount: a key, a signature or an account's name, wherever it stands.
func TestStripLeavesNothingOfTheAccount(t *testing.T) {
	h := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"1"}}
	for _, name := range []string{
		"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "X-Auth-Token", "Cookie",
		"Openai-Organization", "Openai-Project", "Anthropic-Workspace", "X-Goog-User-Project",
		"X-Amz-Security-Token", "X-Amz-Date", "X-Amz-Content-Sha256", "X-Amz-Region-Set",
	} {
		h[name] = []string{"secret", "secret"}
	}
	for query, want := range map[string]string{
		"": "", "alt=sse": "alt=sse", "alt=sse&key=secret&%61pi_key=secret": "alt=sse",
		"key=s&api_key=s&api-key=s&apikey=s&access_token=s&token=s&subscription-key=s&key=s": "",
		"KEY=s&Subscription-Key=s&ApiKey=s&%41PI_key=s&monkey=1":                             "monkey=1",
		presigned: "", "x=1&" + presigned + "&access_token=secret&api-version=2": "x=1&api-version=2",
	} {
		if got := Strip(h, query); got != want {
			t.Errorf("%q leaves %q, want %q", query, got, want)
		}
	}
	if len(h) != 2 || h.Get("Content-Type") == "" || h.Get("X-Request-Id") != "1" {
		t.Errorf("%v", h)
	}
}
