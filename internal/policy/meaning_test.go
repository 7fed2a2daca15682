// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"
)

// Wrong by meaning: the schema accepts all of these.
func TestWrongInMeaningIsRefusedWithThePathAndWhatToDo(t *testing.T) {
	const p0 = "spec.providers[0]"
	limit := func(fragment string) string {
		return "{providers: [{name: openai, limits: [{name: a, " + fragment + "}]}]}"
	}
	lanes := func(limits, lanes string) string {
		return "{providers: [{name: anthropic, limits: [" + limits + "], lanes: [" + lanes + "]}]}"
	}
	failover := func(fromTo string, more ...string) string {
		from, to, _ := strings.Cut(fromTo, ": ")
		first := "{name: " + from + ", throttle: {onCeilingExceeded: Failover, failoverTo: " + to + "}}"
		return "{providers: [" + strings.Join(append([]string{first}, more...), ", ") + "]}"
	}
	input400k := "{name: in, budget: InputTokens, amount: 400k, per: Minute}"
	tests := map[string]struct {
		spec string
		path string
		want string
	}{
		"a dialect without a URL": {"{providers: [{name: other}]}", p0 + ".baseURL", "Generic has no URL of its own"},
		"azure without a URL": {
			"{providers: [{name: eu, dialect: AzureOpenAI}]}", p0 + ".baseURL", "such as https://RESOURCE.openai.azure.com",
		},
		"bedrock without a URL":    {"{providers: [{name: bedrock}]}", p0 + ".baseURL", "such as https://bedrock-runtime.REGION.amazonaws.com"},
		"vertex without a URL":     {"{providers: [{name: vertex}]}", p0 + ".baseURL", "such as https://REGION-aiplatform.googleapis.com"},
		"a server without a URL":   {"{providers: [{name: vllm}]}", p0 + ".baseURL", "such as http://vllm.models.svc:8000"},
		"two candidates for /groq": {"{providers: [{name: a, dialect: Groq}, {name: b, dialect: Groq}]}", "spec.providers[1].name", "name one of them groq"},
		"key over http": {
			"{providers: [{name: openai, baseURL: 'HTTP://x.example.com', credentialKey: k}]}", p0 + ".baseURL", "https only",
		},
		"two candidates for the built-in route": {
			"{providers: [{name: a, dialect: OpenAI}, {name: b, dialect: OpenAI}]}",
			"spec.providers[1].name", "could mean a or b: name one of them openai",
		},
		"no deadline at all":      {"{providers: [{name: openai, deadline: {default: 0ms}}]}", p0 + ".deadline.default", "longer"},
		"unguided above default":  {"{providers: [{name: openai, unguided: {base: 31s}}]}", p0 + ".unguided", "cap, here 30s"},
		"unguided below default":  {"{providers: [{name: openai, unguided: {cap: 499ms}}]}", p0 + ".unguided", "state both"},
		"overload above default":  {"{providers: [{name: openai, overload: {base: 31s}}]}", p0 + ".overload", "state both"},
		"a limit no call fits":    {limit("budget: Tokens, amount: 100, per: Minute, burst: 1"), p0 + ".limits[0].burst", "takes 2"},
		"a key that is no label":  {"{podSelector: {matchLabels: {'a b': c}}, providers: [{name: openai}]}", "spec.podSelector.matchLabels[a b]", "no label key"},
		"a value that is none":    {"{podSelector: {matchLabels: {a: 'b c'}}, providers: [{name: openai}]}", "spec.podSelector.matchLabels[a]", "no label value"},
		"an expression's key":     {"{podSelector: {matchExpressions: [{key: '-', operator: Exists}]}, providers: [{name: openai}]}", "spec.podSelector.matchExpressions[0].key", "no label key"},
		"an expression's value":   {"{podSelector: {matchExpressions: [{key: a, operator: In, values: ['-']}]}, providers: [{name: openai}]}", "spec.podSelector.matchExpressions[0].values[0]", "no label value"},
		"default lane with match": {lanes("", "{name: default, match: {minInputTokens: 1}}"), p0 + ".lanes[0].match.minInputTokens", "leave match out"},
		"largest below smallest": {
			lanes("", "{name: a, match: {minInputTokens: 2k}, largestCall: 1k}"), p0 + ".lanes[0].largestCall", "raise it",
		},
		"a lane whose calls never fit": {
			lanes(input400k, "{name: a, match: {minInputTokens: 401k}}"), p0 + ".lanes[0].match.minInputTokens", "lower it, or raise the burst",
		},
		"the largest call above the burst": {
			lanes(input400k, "{name: a, largestCall: 401k, reservedPercent: 0}"), p0 + ".lanes", "raise its burst or lower largestCall",
		},
		// 380k + the hold of the other half, min(0.5·400k/2, 10 s·0.5·6,667/s) = 33.3k.
		"the largest call and the other lane's hold": {
			lanes(input400k, "{name: a, match: {minInputTokens: 1}, largestCall: 380k, reservedPercent: 50}"), p0 + ".lanes", "413333",
		},
		"default lane with a header": {lanes("", "{name: default, match: {header: {name: X-Kind}}}"), p0 + ".lanes[0].match", "leave match out"},
		"default lane with models":   {lanes("", "{name: default, match: {models: [a]}}"), p0 + ".lanes[0].match", "leave match out"},
		"a lane matched by a key":    {lanes("", "{name: a, match: {header: {name: AUTHORIZATION}}}"), p0 + ".lanes[0].match.header.name", "carries a key"},
		"a lane matched by a hop":    {lanes("", "{name: a, match: {header: {name: connection}}}"), p0 + ".lanes[0].match.header.name", "one connection"},
		// A hold of 60 s is the lane's whole share of the burst, 200k.
		"the largest call and a stated hold": {
			lanes(input400k, "{name: a, match: {minInputTokens: 1}, largestCall: 201k, reservedPercent: 50}, {name: default, hold: 60s}"), p0 + ".lanes", "401k",
		},
		"a lane's key over http": {
			"{providers: [{name: openai, baseURL: 'http://x.example.com', lanes: [{name: a, credentialKey: k}]}]}", p0 + ".baseURL", "https only",
		},
		"failover to nowhere": {failover("openai: x"), p0 + ".throttle.failoverTo", "no provider of that name"},
		"failover to another dialect": {
			failover("openai: anthropic", "{name: anthropic}"), p0 + ".throttle.failoverTo", "speaks dialect Anthropic and openai speaks OpenAI",
		},
		"failover twice": {
			failover("openai: b", "{name: b, dialect: OpenAI, credentialKey: k, throttle: {onCeilingExceeded: Failover, failoverTo: openai}}"),
			p0 + ".throttle.failoverTo", "fails over itself",
		},
		"failover with the app's key to another server": {
			failover("openai: b", "{name: b, dialect: OpenAI, baseURL: 'https://b.example.com'}"), p0 + ".throttle.failoverTo", "give b one",
		},
		"two largest calls": {
			lanes(input400k, "{name: a, match: {minInputTokens: 100k}, largestCall: 300k}, {name: b, match: {minInputTokens: 1}, largestCall: 101k}"),
			p0 + ".lanes", "raise its burst",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := decodeSpec(t, tc.spec)
			if errs := validateSchema(&p); len(errs) > 0 {
				t.Fatalf("this is the schema's affair: %v", errs)
			}
			got := fieldsOf(Validate(&p))
			if !strings.Contains(got[tc.path], tc.want) {
				t.Errorf("Validate says %v, want %q at %s", got, tc.want, tc.path)
			}
			if len(Warnings(&p)) > 0 {
				t.Error("a policy that is refused has warnings too")
			}
		})
	}
}

func TestLegalPoliciesAreAccepted(t *testing.T) {
	tests := map[string]string{
		"burst 0 lets nothing pass":                                 "{providers: [{name: openai, limits: [{name: a, budget: Tokens, amount: 100, per: Minute, burst: 0}]}]}",
		"amount 0 lets nothing pass":                                "{providers: [{name: openai, limits: [{name: a, budget: Tokens, amount: 0, per: Minute}]}]}",
		"two of a dialect, one named after it":                      "{providers: [{name: openai}, {name: b, dialect: OpenAI}]}",
		"two Generic providers: nothing names their built-in route": "{providers: [{name: a, baseURL: 'https://a.example.com'}, {name: b, baseURL: 'https://b.example.com'}]}",
		"two resources in Azure, each at a route of its name":       "{providers: [{name: azure-eu, dialect: AzureOpenAI, baseURL: 'https://eu.openai.azure.com'}, {name: azure-us, dialect: AzureOpenAI, baseURL: 'https://us.openai.azure.com'}]}",
		"http without a key":                                        "{providers: [{name: a, baseURL: 'http://a.example.com'}]}",
		"a key over https":                                          "{providers: [{name: openai, credentialKey: k}]}",
		"only a lane's match":                                       "{providers: [{name: openai, lanes: [{name: a, match: {minInputTokens: 20k}}]}]}",
		"largest calls that fit": "{providers: [{name: anthropic, limits: [{name: in, budget: InputTokens, amount: 400k, per: Minute}], " +
			"lanes: [{name: bulk, match: {minInputTokens: 20k}, largestCall: 60k, reservedPercent: 40}]}]}",
		"a limit for other models says nothing about a lane": "{providers: [{name: openai, limits: [{name: a, budget: Tokens, amount: 1k, per: Minute, models: [x]}], lanes: [{name: a, match: {minInputTokens: 2k}}]}]}",
		"failover with a key of its own":                     "{providers: [{name: openai, throttle: {onCeilingExceeded: Failover, failoverTo: b}}, {name: b, dialect: OpenAI, baseURL: 'https://b.example.com', credentialKey: k}]}",
		"failover to the same server":                        "{providers: [{name: openai, throttle: {onCeilingExceeded: Failover, failoverTo: b}}, {name: b, dialect: OpenAI}]}",
		"failover both from two":                             "{providers: [{name: openai, throttle: {onCeilingExceeded: Failover, failoverTo: c}}, {name: b, dialect: OpenAI, throttle: {onCeilingExceeded: Failover, failoverTo: c}}, {name: c, dialect: OpenAI}]}",
		"Defer with a key":                                   "{providers: [{name: openai, credentialKey: k, deadline: {onExceeded: Defer}, deferred: {maxAge: 1m, callbackHosts: ['*.hooks.example.com', a.example.com]}}]}",
		"Defer at the ceiling":                               "{providers: [{name: openai, credentialKey: k, throttle: {onCeilingExceeded: Defer}}]}",
		"Decline stated":                                     "{providers: [{name: openai, deadline: {onExceeded: Decline}, throttle: {onCeilingExceeded: Decline}}]}",
		"every rule of a lane": "{providers: [{name: openai, lanes: [{name: a, match: {minInputTokens: 1, header: {name: X-Kind, value: batch}, models: ['a*'], paths: [/v1/*]}, " +
			"priority: -1000, weight: 100, hold: 0s, credentialKey: k, queue: {maxBytes: 32Mi}}]}]}",
		"output limits say nothing about inputs": "{providers: [{name: openai, limits: [{name: a, budget: OutputTokens, amount: 1k, per: Minute}], lanes: [{name: a, match: {minInputTokens: 2k}}]}]}",
	}
	for name, spec := range tests {
		t.Run(name, func(t *testing.T) {
			p := decodeSpec(t, spec)
			if errs := Validate(&p); len(errs) > 0 {
				t.Errorf("refused: %v", errs)
			}
		})
	}
}

func TestBaseURLs(t *testing.T) {
	tests := map[string]string{
		"https://llm.example.com":           "",
		"https://llm.example.com/":          "",
		"https://llm.example.com:8443/v1/a": "",
		"http://localhost:8080":             "",
		"http://10.0.0.1:8080":              "",
		"https://[2001:db8::1]:8443":        "",
		"https://LLM.Example.COM.":          "",
		"ftp://llm.example.com":             "must begin with",
		"llm.example.com":                   "must begin with",
		"//llm.example.com":                 "must begin with",
		"https:llm.example.com":             "no host",
		"https:///path":                     "no host",
		"https://:8443":                     "no host",
		"https://user:secret@x.example.com": "user or password",
		"https://secret@x.example.com":      "user or password",
		"https://x.example.com?key=secret":  "query",
		"https://x.example.com?":            "query",
		"https://x.example.com#secret":      "fragment",
		"https://x.example.com#":            "fragment",
		"https://x.example.com/a/../b":      "path",
		"https://x.example.com//a":          "path",
		"https://x.example.com/a/./b":       "path",
		"https://x.example.com/a/%2e%2e/b":  "path",
		"https://x.example.com:0":           "port",
		"https://x.example.com:65536":       "port",
		"https://x.example.com:":            "port",
		"https://x.example.com:a":           "not a URL",
		"https://x y.example.com":           "not a URL",
		"https://x_y.example.com":           "neither a DNS name",
		"https://2852039166":                "neither a DNS name",
		"https://0xa9fea9fe":                "neither a DNS name",
		"https://169.254.43518":             "neither a DNS name",
		"http://169.254.169.254/latest":     "link-local or metadata",
		"http://169.254.1.2":                "link-local or metadata",
		"http://[fe80::1]":                  "link-local or metadata",
		"http://[fe80::1%25eth0]":           "link-local or metadata",
		"http://[::ffff:169.254.169.254]":   "link-local or metadata",
		"http://[64:ff9b::169.254.169.254]": "link-local or metadata",
		"http://[fd00:ec2::254]":            "link-local or metadata",
		"http://100.100.100.200":            "link-local or metadata",
		"http://metadata.google.internal":   "metadata service",
		"http://METADATA.google.internal.":  "metadata service",
		"http://metadata":                   "metadata service",
		"http://0.0.0.0:80":                 "one host",
		"http://[::]":                       "one host",
		"http://224.0.0.1":                  "one host",
		"http://127.0.0.1:15080":            "call itself",
		"http://127.0.0.1:15080/openai":     "call itself",
		"http://localhost:15080":            "call itself",
		"http://[::1]:15080":                "call itself",
		"http://[::ffff:127.0.0.1]:15080/":  "call itself",
		"https://x.example.com/\x7f":        "not a URL",
		"https://xn--bcher-kva.example.com": "",
		"https://bücher.example.com/a":      "neither a DNS name",
		"https://x.example.com/%zz":         "not a URL",
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			got := baseURLProblem(text)
			if (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("problem %q, want %q", got, want)
			}
			p := policyOf("p", 1, nil, openAI())
			p.Spec.Providers[0].BaseURL = text
			for _, e := range Validate(&p) {
				if strings.Contains(e.Error(), "secret") {
					t.Errorf("a secret got into the message: %v", e)
				}
			}
		})
	}
}

func TestPublicHosts(t *testing.T) {
	tests := map[string]bool{
		"http://llm.example.com": true, "http://8.8.8.8": true, "http://[2001:4860::8]": true,
		"http://llm": false, "http://llm.models.svc": false, "http://llm.models.svc.cluster.local": false,
		"http://10.1.2.3": false, "http://192.168.1.1": false, "http://127.0.0.1": false, "http://[fd12::1]": false,
		"http://box.local": false, "http://a.internal": false,
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			p := policyOf("p", 1, nil, providerAt("x", text))
			got := strings.Contains(strings.Join(Warnings(&p), ""), "looks public")
			if got != want {
				t.Errorf("warned: %t, want %t (%v)", got, want, Validate(&p))
			}
		})
	}
}
