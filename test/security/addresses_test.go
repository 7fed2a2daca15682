// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/policy"
)

// aimed are hosts as an attacker writes them: those that are addresses gateways do not dial, those that some resolver takes for
// one, and what is no host. The others are hosts like any.
var aimed = map[string][]string{
	"not dialled": {
		"169.254.169.254", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]",
		"[2002:a9fe:a9fe::1]", "[::169.254.169.254]", "[::ffff:0:a9fe:a9fe]", "[fe80::1]", "[fe80::1%25eth0]", "[fd00:ec2::254]",
		"[fd00:ec2::23]", "[fd20:ce::254]", "[fd00:c1::a9fe:a9fe]", "[fd00:42::42]", "100.100.100.200", "168.63.129.16",
		"192.0.0.192", "0.0.0.0", "0.1.2.3", "255.255.255.255", "[::]", "[::ffff:0.0.0.0]", "224.0.0.1", "[ff02::1]",
		"[64:ff9b::6464:64c8]", "[2002:a83f:8110::]",
	},
	"an old spelling": {
		"2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe", "0251.0376.0251.0376", "169.254.43518", "169.16689662",
		"0251.254.169.254", "169.254.169.254.", "127.1", "0x7f.1", "a.0xfe",
	},
	"no host": {
		"user@a.example", "169.254.169.254%2f@a.example", "a.example..", "ａ.example", "a_b.example", "*.example", "a.example:0",
		"a.example:", "a.example:99999", "a.example:443:443", "%31%36%39.254.169.254", `a.example\@b.example`, "[::1]a",
		"a.example#x", "a.example/?x", "a.example?", "a.example//b", "a.example/../b", "a.example/%2e%2e/b", "a.example/%2f%2fb",
		"a.example/\tx", " a.example", "a.example/\r\nX-Evil: 1", "", ":443", "metadata", "metadata.google.internal.",
		"METADATA.google.internal", "instance-data",
	},
	"a host": {
		"a.example", "A.Example.", "a.example:8443", "a.example/v1", "10.0.0.1", "[fd12::1]", "[::1]", "127.0.0.1:8080",
		"xn--bcher-kva.example", "[64:ff9b::a00:1]",
	},
}

// TestPoliciesAreRefusedForWhatIsNotDialled: what a gateway would refuse at each call is refused once, when it is applied, and by
// every spelling; what is not refused there is dialled.
func TestPoliciesAreRefusedForWhatIsNotDialled(t *testing.T) {
	const text = `{apiVersion: headgate.dev/v1alpha1, kind: RateLimitPolicy, metadata: {name: support, namespace: team-support}, spec: {
  providers: [{name: openai, baseURL: %q, limits: [{name: requests, budget: Requests, amount: 10, per: Minute}]}]}}`
	for kind, hosts := range aimed {
		for _, host := range hosts {
			base := "https://" + host
			objects, err := policy.Read(fmt.Appendf(nil, text, base))
			if err != nil {
				t.Fatalf("%q: %v", host, err)
			}
			_, outcomes := policy.Compile(objects.Policies, policy.Inputs{Namespace: "team-support", Now: time.Now()})
			refusal := fmt.Sprint(outcomes[0].Errors)
			if refused := len(outcomes[0].Errors) > 0; refused != (kind != "a host") || refused && !strings.Contains(refusal, "baseURL") {
				t.Errorf("%s, %q: the policy is refused: %t %s", kind, host, refused, refusal)
			}
			if strings.Contains(refusal, "user@") {
				t.Errorf("%q: the refusal shows who is named in it: %s", host, refusal)
			}
			u, err := url.Parse(base)
			if kind != "not dialled" && kind != "a host" {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := upstream.CheckHost(u.Hostname(), "443"); (err != nil) != (kind == "not dialled") {
				t.Errorf("%s, %q: the gateway: %v", kind, host, err)
			}
		}
	}
}
