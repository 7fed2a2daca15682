// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/wire"
)

// sdkAWS is what AWS' SDKs count as, whatever their language.
const sdkAWS = "aws"

// sdkProducts are the SDKs of one maker by how their User-Agent begins; others that send the same headers are
// counted as its generator's.
var sdkProducts = [...]struct{ prefix, name string }{
	{"openai/", "openai"}, {"asyncopenai/", "openai"}, {"anthropic/", "anthropic"}, {"asyncanthropic/", "anthropic"},
}

// sdkLanguages are the values of X-Stainless-Lang, with what people call the SDK.
var sdkLanguages = map[string]string{"python": "python", "js": "node", "go": "go"}

// stackedBy names the SDK whose own retry a call is, one of wire.SDKs (openai-go, aws); "" if it is
// none. Two that retry multiply each other's attempts.
func stackedBy(h http.Header) string {
	if values := h["X-Stainless-Retry-Count"]; len(values) > 0 {
		if n, err := strconv.Atoi(values[0]); err == nil && n > 0 {
			return stainless(h)
		}
	}
	if values := h[headerAttempt]; len(values) > 0 && awsAttempt(values[0]) > 1 {
		return sdkAWS
	}
	return ""
}

func stainless(h http.Header) string {
	language, ok := sdkLanguages[strings.ToLower(h.Get("X-Stainless-Lang"))]
	if !ok {
		return wire.SDKOther
	}
	product := "stainless"
	agent := strings.ToLower(h.Get("User-Agent"))
	for _, p := range sdkProducts {
		if strings.HasPrefix(agent, p.prefix) {
			product = p.name
		}
	}
	return product + "-" + language
}

// awsAttempt reads "attempt=2; max=3"; 0 where it is not said.
func awsAttempt(line string) int {
	n, err := strconv.Atoi(attribute(line, "attempt="))
	if err != nil {
		return 0
	}
	return n
}

// attribute is the value behind name in a list that semicolons divide; "" where it is not there.
func attribute(line, name string) string {
	for part := range strings.SplitSeq(line, ";") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(part), name); ok {
			return text
		}
	}
	return ""
}
