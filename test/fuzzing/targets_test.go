// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"slices"
	"strings"
	"testing"
)

// parsers are what reads bytes from outside, with the targets that fuzz it.
var parsers = map[string][]string{
	"a caller's path":               {"internal/gateway/proxy FuzzClimbs", "internal/gateway/dialect/urlpath FuzzClean", "internal/gateway/dialect/hostile FuzzPaths", "internal/gateway/dialect/gemini FuzzPath", "internal/gateway/dialect/bedrock FuzzPath", "internal/gateway/dialect/vertexai FuzzPath"},
	"a caller's headers":            {"internal/gateway/proxy FuzzCallersWords", "internal/gateway/upstream FuzzPrepareRequest", "internal/gateway/dialect/credential FuzzSignature"},
	"a caller's body":               {"internal/gateway/dialect/request FuzzRead", "internal/gateway/dialect/request FuzzForm", "internal/gateway/dialect/hostile FuzzRequest", "internal/gateway/jsonscan FuzzScanner", "internal/gateway/jsonscan FuzzStream", "internal/gateway/tokens FuzzSample", "internal/gateway/proxy FuzzCoded"},
	"a callback's URL":              {"internal/gateway/deferred/callback FuzzCheck"},
	"a deferred call as it is kept": {"internal/gateway/deferred/ticket FuzzDecode"},
	"a provider's headers":          {"internal/gateway/dialect/guidance FuzzRetryAfter", "internal/gateway/dialect/guidance FuzzReset", "internal/gateway/dialect/guidance FuzzIETF", "internal/gateway/dialect/guidance FuzzQuantity", "internal/gateway/dialect/guidance FuzzGoogleDuration", "internal/gateway/dialect/azureopenai FuzzTimeSpan"},
	"a provider's error":            {"internal/gateway/dialect/failure FuzzRead", "internal/gateway/dialect/failure FuzzMessage", "internal/gateway/dialect/failure FuzzDecompress", "internal/gateway/dialect/google FuzzError", "internal/gateway/dialect/bedrock FuzzErrorType", "internal/gateway/dialect/hostile FuzzNoKeys", "internal/gateway/upstream FuzzSpoken"},
	"a provider's answer":           {"internal/gateway/dialect/hostile FuzzResponse", "internal/gateway/dialect/hostile FuzzMeter", "internal/gateway/meter FuzzMeter", "internal/gateway/meter FuzzChunk", "internal/gateway/meter FuzzStrip", "internal/gateway/meter FuzzHeaders"},
	"a provider's stream":           {"internal/gateway/sse FuzzCuts", "internal/gateway/jsonframe FuzzFrames", "internal/gateway/eventstream FuzzEventStream"},
	"an address to dial":            {"internal/gateway/upstream FuzzCheckAddress"},
	"the hosts of a key":            {"internal/gateway/credentials FuzzHosts"},
	"a plan":                        {"internal/plan FuzzParse"},
	"the pod's labels":              {"internal/gateway/control FuzzParseLabels"},
	"a policy's YAML":               {"internal/policy FuzzDecodeAndCompile", "internal/aliases FuzzCheck"},
	"a gateway's draws":             {"internal/coordinator/drawing FuzzDraws"},
	"a gateway's token":             {"internal/coordinator FuzzToken"},
	"a pod that is created":         {"internal/inject FuzzInject"},
	"the answer of a budget store":  {"internal/budgetstore/redisstore FuzzAnswer"},
	"the URL of a store":            {"internal/budgetstore/redisstore FuzzURL", "internal/gateway/deferred/redisstore FuzzURL"},
	"a coordinator's grants":        {"internal/gateway/share FuzzGrant"},
	"what a leader left":            {"internal/ledger FuzzParseState", "internal/ledger FuzzHandover"},
	"a gateway's report":            {"internal/figures FuzzReport"},
	"a certificate authority":       {"internal/certs FuzzParseAuthority"},
	"a response that is pasted":     {"internal/explain FuzzReadResponse"},
	"a workload":                    {"internal/simulate/workload FuzzParse", "internal/simulate/html FuzzNames"},
}

// ofTests are targets of what the tests themselves run.
var ofTests = []string{"cmd/fakeprovider", "internal/testing/"}

// TestEveryParserOfBytesFromOutsideIsFuzzed: each target of the list exists, and each that exists is of something in the
// list, or of the tests' own tools.
func TestEveryParserOfBytesFromOutsideIsFuzzed(t *testing.T) {
	targets, err := Find("../..")
	if err != nil {
		t.Fatal(err)
	}
	var exist []string
	for _, target := range targets {
		exist = append(exist, target.String())
	}
	var listed []string
	for parser, targets := range parsers {
		for _, target := range targets {
			listed = append(listed, target)
			if !slices.Contains(exist, target) {
				t.Errorf("%s: there is no %s", parser, target)
			}
		}
	}
	for _, target := range exist {
		own := slices.ContainsFunc(ofTests, func(prefix string) bool { return strings.HasPrefix(target, prefix) })
		if !own && !slices.Contains(listed, target) {
			t.Errorf("%s is of no parser in the list", target)
		}
	}
}
