// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/plan"
)

// applyYAML applies documents as people do, with kubectl.
func applyYAML(t *testing.T, format string, args ...any) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, format, args...), 0o600); err != nil {
		t.Fatal(err)
	}
	env.RunKubectl(t, "apply", "-f", file)
}

const (
	accountYAML = `
apiVersion: headgate.dev/v1alpha1
kind: ProviderAccount
metadata: {name: %s}
spec:
  dialect: Anthropic
  %s
`
	ofAccountYAML = `
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: default, namespace: %s}
spec:
  providers:
  - name: anthropic
    accountRef: {name: %s}
    limits: [{name: requests, budget: Requests, amount: 100, per: Minute}]
`
	limits2M = "limits: [{name: input-tokens, budget: InputTokens, amount: 2M, per: Minute}]\n  "
)

func getAccount(t *testing.T, name string) *v1alpha1.ProviderAccount {
	t.Helper()
	var a v1alpha1.ProviderAccount
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name}, &a); err != nil {
		t.Fatal(err)
	}
	return &a
}

func accountReason(a *v1alpha1.ProviderAccount, kind string) string {
	for _, c := range a.Status.Conditions {
		if c.Type == kind {
			return string(c.Status) + "/" + c.Reason
		}
	}
	return ""
}

// routeLimits writes the limits of the only route: NAME=AMOUNT/GATEWAYS@ACCOUNT.
func routeLimits(t *testing.T, namespace string) string {
	t.Helper()
	p := readPlan(t, namespace)
	if p == nil || len(p.Policies) != 1 {
		return fmt.Sprintf("plan %+v", p)
	}
	var out []string
	for _, l := range p.Policies[0].Routes[0].Limits {
		out = append(out, fmt.Sprintf("%s=%d/%d@%s", l.Name, l.Amount, l.MaxGateways, l.Account))
	}
	return strings.Join(out, " ")
}

func expectLimits(t *testing.T, namespace, want string) {
	t.Helper()
	eventually(t, func() string { return cmp.Diff(want, routeLimits(t, namespace)) })
}

func expectReason(t *testing.T, namespace, kind, want string) {
	t.Helper()
	eventually(t, func() string { return cmp.Diff(want, reason(getPolicy(t, namespace, "default"), kind)) })
}

// An account's edit reaches the plans of all namespaces that draw on it, and the coordinator; its deletion leaves gateways
// what they have.
func TestAccountsReachPlansAndTheCoordinator(t *testing.T) {
	a, b := env.Namespace(t, nil), env.Namespace(t, nil)
	applyYAML(t, ofAccountYAML+"---"+ofAccountYAML, a, "reach", b, "reach")
	expectReason(t, a, "Accepted", "False/AccountNotFound")
	expectLimits(t, a, "requests=100/0@")

	tenants := fmt.Sprintf("allowedNamespaces: {names: [%s, %s]}\n  tenants: [{namespace: %s, guaranteedPercent: 40, weight: 3}, {namespace: not-allowed}]", a, b, a)
	applyYAML(t, accountYAML, "reach", limits2M+tenants)
	for _, namespace := range []string{a, b} {
		expectLimits(t, namespace, "requests=100/0@ reach:input-tokens=2000000/8@reach")
		expectReason(t, namespace, "Accepted", "True/Valid")
	}
	want := ledger.Account{
		Name: "reach", MaxGateways: 8, Tenants: []ledger.Tenant{{Namespace: a, GuaranteedPercent: 40, Weight: 3}},
		Limits: []plan.Limit{{Name: "input-tokens", Budget: plan.InputTokens, Amount: 2_000_000, Burst: 2_000_000, WindowSeconds: 60}},
	}
	told := func() string {
		got, _ := pools.account("reach")
		return cmp.Diff(want, got)
	}
	eventually(t, told)

	applyYAML(t, accountYAML, "reach", strings.Replace(limits2M, "2M", "1M", 1)+"maxGateways: 50\n  "+tenants)
	want.Limits[0].Amount, want.Limits[0].Burst, want.MaxGateways = 1_000_000, 1_000_000, 50
	for _, namespace := range []string{a, b} {
		expectLimits(t, namespace, "requests=100/0@ reach:input-tokens=1000000/50@reach")
	}
	eventually(t, told)

	env.RunKubectl(t, "delete", "pacct", "reach")
	expectReason(t, a, "Accepted", "False/AccountNotFound")
	expectLimits(t, a, "requests=100/0@ reach:input-tokens=1000000/50@reach")
	eventually(t, func() string {
		if _, known := pools.account("reach"); known {
			return "the coordinator still has the account"
		}
		return ""
	})
}

// A namespace that loses its label loses the account: its policy says so, and tells of nobody else; the account's says who.
func TestANamespaceThatIsNoLongerAllowed(t *testing.T) {
	ns, other := env.Namespace(t, map[string]string{"llm": "label"}), env.Namespace(t, map[string]string{"llm": "label"})
	applyYAML(t, accountYAML, "by-label", limits2M+"allowedNamespaces: {selector: {matchLabels: {llm: label}}}\n  tenants: [{namespace: "+ns+", guaranteedPercent: 10}]")
	applyYAML(t, ofAccountYAML+"---"+ofAccountYAML, ns, "by-label", other, "by-label")
	expectReason(t, ns, "Accepted", "True/Valid")
	eventually(t, func() string {
		if got, _ := pools.account("by-label"); len(got.Tenants) != 1 {
			return fmt.Sprintf("tenants %+v", got.Tenants)
		}
		return ""
	})

	relabel(t, ns, nil)
	expectReason(t, ns, "Accepted", "False/AccountNotAllowed")
	expectLimits(t, ns, "by-label:not-allowed=0/0@ requests=100/0@")
	if got := fmt.Sprintf("%+v", getPolicy(t, ns, "default").Status); strings.Contains(got, other) {
		t.Errorf("the status names another namespace: %s", got)
	}
	expectLimits(t, other, "requests=100/0@ by-label:input-tokens=2000000/8@by-label")
	eventually(t, func() string {
		if got, _ := pools.account("by-label"); len(got.Tenants) != 0 {
			return fmt.Sprintf("a part is kept for it: %+v", got.Tenants)
		}
		for _, c := range getAccount(t, "by-label").Status.Conditions {
			if c.Type == "Accepted" && strings.Contains(c.Message, "Not allowed, though policies there refer to it: "+ns) {
				return ""
			}
		}
		return fmt.Sprintf("%+v", getAccount(t, "by-label").Status.Conditions)
	})

	relabel(t, ns, map[string]string{"llm": "label"})
	expectReason(t, ns, "Accepted", "True/Valid")
	expectLimits(t, ns, "requests=100/0@ by-label:input-tokens=2000000/8@by-label")
}

func relabel(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	var ns corev1.Namespace
	if err := env.Client.Get(t.Context(), client.ObjectKey{Name: name}, &ns); err != nil {
		t.Fatal(err)
	}
	ns.Labels = labels
	if err := env.Client.Update(t.Context(), &ns); err != nil {
		t.Fatal(err)
	}
}

// told is what a provider told the gateways of a policy: a limit of a budget, so many times.
func told(limit string, said int, of float64) figures.PolicyFigures {
	f := reporting(1, "web")
	f.Limits = []figures.LimitFigures{{
		Provider: "anthropic", Name: limit, ProviderKnown: true, ProviderLimit: of, ProviderRemaining: of / 2, ProviderSaid: said, ProviderLeast: of,
		Used: figures.NewFlow(5*of/2, figures.Window), Offered: figures.NewFlow(5*of/2, figures.Window),
	}}
	f.Providers = []figures.ProviderFigures{{Name: "anthropic", Calls: 50, Sends: 50, TooManyRequests: 1, State: "Healthy", LastCall: time.Now()}}
	return f
}

// Where none are declared, limits are what two answers told: first in status, then in plans and at the coordinator.
func TestLimitsAreLearned(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyYAML(t, accountYAML, "learns", "allowedNamespaces: {names: ["+ns+"]}")
	applyYAML(t, ofAccountYAML, ns, "learns")
	const watched = "requests=100/0@ learns:requests=1000000000000/0@ learns:input-tokens=1000000000000/0@ learns:output-tokens=1000000000000/0@"
	expectLimits(t, ns, watched)
	eventually(t, func() string {
		return cmp.Diff("Unknown/Unknown", accountReason(getAccount(t, "learns"), "LimitsMatch"))
	})
	if _, known := pools.account("learns"); known {
		t.Error("an account without limits was given to the coordinator")
	}
	gateways.report(ns, "default", told("learns:input-tokens", 1, 400_000))
	time.Sleep(2 * RefreshInterval)
	if got := routeLimits(t, ns); got != watched {
		t.Errorf("one answer changed the plan: %s", got)
	}
	gateways.report(ns, "default", told("learns:input-tokens", 2, 400_000))
	expectLimits(t, ns, strings.Replace(watched, "learns:input-tokens=1000000000000/0@", "learns:input-tokens=400000/4@learns", 1))
	eventually(t, func() string {
		a := getAccount(t, "learns")
		account, _ := pools.account("learns")
		want := []plan.Limit{{Name: "input-tokens", Budget: plan.InputTokens, Amount: 400_000, Burst: 400_000, WindowSeconds: 60}}
		return cmp.Diff("True/Learned", accountReason(a, "LimitsMatch")) + cmp.Diff(want, account.Limits)
	})
	// What the policy's status shows of limits that are only watched is nothing.
	eventually(t, func() string {
		var names []string
		for _, l := range getPolicy(t, ns, "default").Status.Limits {
			names = append(names, l.Name)
		}
		return cmp.Diff([]string{"anthropic/learns:input-tokens", "anthropic/requests"}, names)
	})
}

// What people see of an account, on a real API server.
func TestAnAccountsStatusIsRead(t *testing.T) {
	ns := env.Namespace(t, nil)
	createPod(t, ns, "web", nil, true)
	applyYAML(t, accountYAML, "read", limits2M+"allowedNamespaces: {names: ["+ns+"]}\n  tenants: [{namespace: "+ns+", guaranteedPercent: 40}]")
	applyYAML(t, ofAccountYAML, ns, "read")
	gateways.report(ns, "default", told("read:input-tokens", 5, 1_000_000))
	pools.say("read", ledger.AccountFigures{
		Limits: []ledger.AccountLimitFigures{{Name: "input-tokens", Rate: 2e6, Capacity: 1.9e6, Level: 700_000, Used: 500_000}},
		Tenants: []ledger.TenantFigures{{
			Namespace: ns, Limit: "input-tokens", Guaranteed: 800_000, Used: 1_000_000, Borrowed: 200_000, Waiting: 60_000, WaitingCalls: 1, Holders: 1,
		}},
		Holders: 1,
	}, map[ledger.Route]ledger.RouteFigures{{Namespace: ns, Policy: "default", Provider: "anthropic"}: {
		Account: "read",
		Limits:  []ledger.LimitFigures{{Name: "read:input-tokens", Account: "read", Guaranteed: 800_000, Share: 1_000_000, Borrowed: 200_000}},
		Lanes:   []ledger.LaneFigures{{Name: "default", Known: true, NextBulk: 9 * time.Second}},
		Holders: 1,
	}})
	eventually(t, func() string {
		return cmp.Diff("False/DeclaredAboveProvider", accountReason(getAccount(t, "read"), "LimitsMatch"))
	})
	eventually(t, func() string {
		columns := strings.Fields(env.RunKubectl(t, "get", "pacct", "read", "--no-headers"))
		want := []string{"read", "Anthropic", "True", "1", "1", "input-tokens", "25.0%", "1", "2.0%", "False"}
		return cmp.Diff(want, columns[:min(len(want), len(columns))])
	})
	described := env.RunKubectl(t, "describe", "pacct", "read")
	for _, pattern := range []string{
		`Limits:\n    Name: +input-tokens\n(.*\n)*    Remaining: +700k\n    Remaining At Provider: +500k\n    Reset In: +30s\n    Source: +Declared\n    State: +Free\n    Total: +2M\n    Total At Provider: +1M\n    Used: +500k\n`,
		`Namespaces:\n    Name: +` + ns + `\n    Share: +40.0%\n    Used: +50.0%\n    Used Borrowed: +10.0%\n    Waiting: +60k\n`,
		`(?s)Summary:\n    Busiest Limit: +input-tokens\n.*Next Step: +Lower input-tokens to 1M.*\n    Waiting: +1\nEvents:`,
		`DeclaredAboveProvider +.*input-tokens: 2M/min is declared, the provider states 1M/min`,
	} {
		if !regexp.MustCompile(pattern).MatchString(described) {
			t.Errorf("kubectl describe prints no %s in\n%s", pattern, described)
		}
	}
	eventually(t, func() string {
		s := getPolicy(t, ns, "default").Status
		if len(s.Limits) == 0 || len(s.Lanes) == 0 {
			return fmt.Sprintf("%+v", s)
		}
		return cmp.Diff([]string{"anthropic/read:input-tokens", "1M", "200k", "9s"},
			[]string{s.Limits[0].Name, string(s.Limits[0].Share), string(s.Limits[0].UsedBorrowed), string(s.Lanes[0].NextBulkIn)})
	})
}

// A store that does not answer is told of on the account and in an Event.
func TestALostStoreIsTold(t *testing.T) {
	applyYAML(t, accountYAML, "stored", limits2M+"allowedNamespaces: {selector: {}}")
	eventually(t, func() string { return cmp.Diff("False/Connected", accountReason(getAccount(t, "stored"), "Degraded")) })
	pools.lose(time.Now().Add(-time.Minute))
	defer pools.lose(time.Time{})
	eventually(t, func() string {
		return cmp.Diff("True/BudgetStoreLost", accountReason(getAccount(t, "stored"), "Degraded"))
	})
	eventually(t, func() string {
		if got := toldEvents(t, "default"); !strings.Contains(got, "BudgetStoreLost: The budget store has not answered since ") {
			return "events:\n" + got
		}
		return ""
	})
	pools.lose(time.Time{})
	eventually(t, func() string { return cmp.Diff("False/Connected", accountReason(getAccount(t, "stored"), "Degraded")) })
}

// Where nothing happens, nothing is written.
func TestAQuietAccountIsLeftAlone(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyYAML(t, accountYAML, "quiet", limits2M+"allowedNamespaces: {names: ["+ns+"]}")
	applyYAML(t, ofAccountYAML, ns, "quiet")
	expectReason(t, ns, "Accepted", "True/Valid")
	eventually(t, func() string {
		if getAccount(t, "quiet").Status.Summary.FiguresAt == nil {
			return "no status"
		}
		return ""
	})
	quiet(t, func() {}, func() string {
		return getAccount(t, "quiet").ResourceVersion + " " + planObject(t, ns).ResourceVersion
	})
}

// An account that the webhook would have refused is in no plan, and says why.
func TestAnInvalidAccountIsInNoPlan(t *testing.T) {
	ns := env.Namespace(t, nil)
	applyYAML(t, accountYAML, "invalid", limits2M+`allowedNamespaces: {selector: {matchLabels: {"no label": x}}}`)
	applyYAML(t, ofAccountYAML, ns, "invalid")
	eventually(t, func() string { return cmp.Diff("False/Invalid", accountReason(getAccount(t, "invalid"), "Accepted")) })
	expectReason(t, ns, "Accepted", "False/AccountNotFound")
	if _, known := pools.account("invalid"); known {
		t.Error("the coordinator was given it")
	}
}

// A number of gateways that follows from policies grows at once, in few steps, and shrinks late.
func TestTheNumberOfAnAccountsGateways(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	b := newAccountBook(start)
	a := &v1alpha1.ProviderAccount{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}
	users := func(gateways ...int32) *plan.Plan {
		p := &plan.Plan{}
		for i, n := range gateways {
			p.Policies = append(p.Policies, plan.Policy{
				Name: fmt.Sprint(i), MaxGateways: n, Routes: []plan.Route{{Name: "x", Account: "acme"}, {Name: "y", Account: "acme"}, {Name: "z"}},
			})
		}
		return p
	}
	stated := func(n int32) *plan.Plan {
		return &plan.Plan{Policies: []plan.Policy{{Routes: []plan.Route{{Account: "acme", Limits: []plan.Limit{{Account: "acme", MaxGateways: n}}}}}}}
	}
	if got := b.gateways(a, nil); got != leastAccountGateways {
		t.Errorf("before any policy: %d", got)
	}
	if got := b.gateways(a, stated(64)); got != 64 {
		t.Errorf("of a plan of before: %d", got)
	}
	steps := []struct {
		namespace string
		plan      *plan.Plan
		after     time.Duration
		want      int32
		changed   bool
	}{
		{"a", users(4), 0, 4, false},
		{"b", users(4, 2), time.Second, 16, true},
		{"b", users(4, 8), time.Second, 16, false},
		{"c", users(10_000), time.Second, 10_000, true},
		{"c", users(), time.Second, 10_000, false}, // too soon
		{"", nil, accountSettles, 16, true},
		{"b", users(2), time.Second, 16, false}, // 8 would do, which is no reason
		{"b", users(), time.Second, 4, true},
	}
	now := start
	for i, step := range steps {
		now = now.Add(step.after)
		var changed []string
		if step.plan == nil {
			changed = b.review(now)
		} else {
			changed = b.put(step.namespace, step.plan, nil, nil, now)
		}
		if got := b.gateways(a, nil); got != step.want || (len(changed) == 1) != step.changed {
			t.Errorf("step %d: %d gateways, changed %v; want %d", i, got, changed, step.want)
		}
	}
	b.put("a", &plan.Plan{}, nil, nil, now)
	if len(b.byName) != 0 || len(b.accounts) != 0 {
		t.Errorf("of nobody it remembers %v, %v", b.byName, b.accounts)
	}
}

// The pool's mode is that of the policy that keeps least to it.
func TestTheOutageModeOfAnAccount(t *testing.T) {
	of := func(modes ...string) map[string]accountUsers {
		var u accountUsers
		for _, m := range modes {
			u.routes = append(u.routes, accountUser{"p", &plan.Route{Outage: m}})
		}
		return map[string]accountUsers{"a": u, "b": {}}
	}
	for want, users := range map[string]map[string]accountUsers{
		"": of("", ""), plan.LastGrant: of("", plan.LastGrant, ""), plan.Open: of(plan.LastGrant, plan.Open, ""),
	} {
		if got := outage(users); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
