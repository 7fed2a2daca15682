// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/headgate-dev/headgate/api/v1alpha1"
	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/ledger"
	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/status"
	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/controlplane"
)

// env is one real API server for all tests, gateways what they report, and reconciler the one that works
// on it.
var (
	env        *controlplane.Env
	gateways   = &fakeGateways{figures: map[string]figures.PolicyFigures{}, plans: map[string]int64{}, pushes: map[string]int{}, changed: make(chan struct{}, 1)}
	pools      = &fakePools{figures: ledger.Figures{Accounts: map[string]ledger.AccountFigures{}, Routes: map[ledger.Route]ledger.RouteFigures{}}}
	reconciler *Reconciler
	// shown is what the controller logs and writes, in which no key may stand.
	shown canary.Watch
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// run stops the controller before the API server, which else waits for its watches to end.
func run(m *testing.M) (code int) {
	ctrl.SetLogger(logr.FromSlogHandler(logs.Handler(shown.Log("the log"), slog.LevelDebug)))
	var err error
	if env, err = controlplane.New(controlplane.Options{}); err != nil {
		fmt.Println("start a control plane:", err)
		return 1
	}
	defer func() {
		if err := env.Stop(); err != nil {
			fmt.Println("stop the control plane:", err)
			code = max(code, 1)
		}
	}()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	if err := startController(ctx, done); err != nil {
		fmt.Println("start the controller:", err)
		cancel()
		return 1
	}
	shown.At("the API", func() (string, error) { return env.Written(context.Background()) })
	shown.At("the metrics", func() (string, error) { return exposition(metrics.Registry, reconciler.Collector()) })
	code = shown.Run(m)
	cancel()
	if err := <-done; err != nil {
		fmt.Println("controller:", err)
		code = max(code, 1)
	}
	return code
}

func startController(ctx context.Context, done chan<- error) error {
	mgr, err := ctrl.NewManager(env.Config, ctrl.Options{
		Scheme: env.Scheme, Cache: CacheOptions(), Client: ClientOptions(),
		Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return err
	}
	envCache, err := NewEnvCache(env.Config, cache.Options{Scheme: env.Scheme})
	if err != nil {
		return err
	}
	if err := mgr.Add(envCache); err != nil {
		return err
	}
	reconciler = New(Options{
		Client: mgr.GetClient(), Env: envCache, Plans: gateways, Reports: gateways,
		Accounts: pools, Budgets: pools, Store: pools,
		Recorder: mgr.GetEventRecorder("headgate"), CoordinatorCA: gateways.bundle, Now: time.Now,
	})
	if err := Setup(mgr, envCache, reconciler); err != nil {
		return err
	}
	go func() { done <- mgr.Start(ctx) }()
	return nil
}

// exposition is what a scrape would get of a registry and a collector that is not in it.
func exposition(from prometheus.Gatherer, more prometheus.Collector) (string, error) {
	own := prometheus.NewRegistry()
	if err := own.Register(more); err != nil {
		return "", err
	}
	families, err := prometheus.Gatherers{from, own}.Gather()
	return fmt.Sprint(families), err
}

// fakePools keep the accounts they are told, and say of budgets what tests want them to.
type fakePools struct {
	mu       sync.Mutex
	accounts []ledger.Account
	figures  ledger.Figures
	lost     time.Time
}

func (p *fakePools) SetAccounts(accounts []ledger.Account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts = accounts
}

// account is the one of the name as it was told last.
func (p *fakePools) account(name string) (ledger.Account, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.accounts {
		if a.Name == name {
			return a, true
		}
	}
	return ledger.Account{}, false
}

func (p *fakePools) Budgets() ledger.Figures {
	p.mu.Lock()
	defer p.mu.Unlock()
	return ledger.Figures{Accounts: maps.Clone(p.figures.Accounts), Routes: maps.Clone(p.figures.Routes)}
}

func (p *fakePools) say(account string, f ledger.AccountFigures, routes map[ledger.Route]ledger.RouteFigures) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.figures.Accounts[account] = f
	maps.Copy(p.figures.Routes, routes)
}

func (p *fakePools) lose(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = since
}

func (p *fakePools) StoreLost() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost, !p.lost.IsZero()
}

// fakeGateways say what tests want them to, and keep the plans they were pushed.
type fakeGateways struct {
	mu         sync.Mutex
	figures    map[string]figures.PolicyFigures
	rejections map[string][]status.Rejection
	plans      map[string]int64
	pushes     map[string]int
	ca         string
	changed    chan struct{}
	dirty      []string
}

func (g *fakeGateways) bundle() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return []byte(g.ca)
}

func (g *fakeGateways) SetPlan(namespace string, revision int64, _ []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.plans[namespace] = revision
	g.pushes[namespace]++
}

// count is how often the namespace's plan was pushed, another one or not.
func (g *fakeGateways) count(namespace string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.pushes[namespace]
}

// told is the last plan's revision, 0 when it was dropped, and whether there ever was any.
func (g *fakeGateways) told(namespace string) (revision int64, told bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	revision, told = g.plans[namespace]
	return revision, told
}

func (g *fakeGateways) pushed(namespace string) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.plans[namespace]
}

func (g *fakeGateways) Policy(namespace, policy string, _ time.Time) figures.PolicyFigures {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.figures[namespace+"/"+policy]
}

func (g *fakeGateways) Rejections(namespace string) []status.Rejection {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rejections[namespace]
}

func (g *fakeGateways) Changed() <-chan struct{} { return g.changed }

func (g *fakeGateways) TakeChanged() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := g.dirty
	g.dirty = nil
	return names
}

// acknowledge reports, and says that something other than figures changed.
func (g *fakeGateways) acknowledge(namespace, policy string, f figures.PolicyFigures) {
	g.report(namespace, policy, f)
	g.mu.Lock()
	g.dirty = append(g.dirty, namespace)
	g.mu.Unlock()
	select {
	case g.changed <- struct{}{}:
	default:
	}
}

func (g *fakeGateways) report(namespace, policy string, f figures.PolicyFigures) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.figures[namespace+"/"+policy] = f
}

const policyYAML = `
apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: %s, namespace: %s}
spec:
  podSelector: {matchLabels: {%s}}
  providers:
  - name: anthropic
    limits: [{name: input-tokens, budget: InputTokens, amount: %s, per: Minute}]
`

// applyPolicy applies a policy as people do, with kubectl.
func applyPolicy(t *testing.T, namespace, name, selector, amount string) {
	t.Helper()
	applyAll(t, fmt.Sprintf(policyYAML, name, namespace, selector, amount))
}

func applyAll(t *testing.T, yaml string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policies.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	env.RunKubectl(t, "apply", "-f", file)
}

func getPolicy(t *testing.T, namespace, name string) *v1alpha1.RateLimitPolicy {
	t.Helper()
	var p v1alpha1.RateLimitPolicy
	if err := env.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

func condition(p *v1alpha1.RateLimitPolicy, kind string) metav1.Condition {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// reason is "Status/Reason" of a condition.
func reason(p *v1alpha1.RateLimitPolicy, kind string) string {
	c := condition(p, kind)
	return string(c.Status) + "/" + c.Reason
}

// patience is for machines that are many times too slow: what is looked for is that it comes, not when.
const patience = 5 * time.Minute

// eventually waits, with a generous limit, until check returns "" and else fails with what it said last.
func eventually(t *testing.T, check func() string) {
	t.Helper()
	said := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if said = check(); said == "" {
			return
		}
	}
	t.Fatal(said)
}

// quiet waits until nothing of what versions reads is written over three refreshes, each of which tick goes with: what was
// still on its way at first may be written, on a slow machine late, but who writes at each look is never quiet.
func quiet(t *testing.T, tick func(), versions func() string) {
	t.Helper()
	eventually(t, func() string {
		before := versions()
		for range 6 {
			time.Sleep(RefreshInterval / 2)
			tick()
		}
		return cmp.Diff(before, versions())
	})
}

// readPlan returns the plan the namespace's ConfigMap holds, nil where it holds none.
func readPlan(t *testing.T, namespace string) *plan.Plan {
	t.Helper()
	cm, err := configMap(t.Context(), env.Client, namespace, sidecar.PlanConfigMap)
	if err != nil {
		t.Fatal(err)
	}
	if cm == nil {
		return nil
	}
	p, err := plan.Parse([]byte(cm.Data[sidecar.PlanKey]))
	if err != nil {
		return nil
	}
	return p
}

// waitPlan waits for a plan that satisfies, and returns it.
func waitPlan(t *testing.T, namespace, what string, satisfies func(*plan.Plan) bool) *plan.Plan {
	t.Helper()
	var found *plan.Plan
	eventually(t, func() string {
		if found = readPlan(t, namespace); found != nil && satisfies(found) {
			return ""
		}
		return fmt.Sprintf("no plan %s: %+v", what, found)
	})
	return found
}

func hasPolicies(n int) func(*plan.Plan) bool {
	return func(p *plan.Plan) bool { return len(p.Policies) == n }
}

// createPod makes a pod, with the gateway's container if it is to count as injected.
func createPod(t *testing.T, namespace, name string, labels map[string]string, withGateway bool) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app", Env: []corev1.EnvVar{{Name: "ANTHROPIC_API_KEY", Value: controlplane.AppKey}}}}},
	}
	if withGateway {
		always := corev1.ContainerRestartPolicyAlways
		pod.Annotations = map[string]string{sidecar.AnnotationContract: sidecar.ContractVersion}
		pod.Spec.InitContainers = []corev1.Container{{Name: sidecar.ContainerName, Image: "gateway", RestartPolicy: &always}}
	}
	if err := env.Client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// reporting are figures of gateways that run a generation and see no call.
func reporting(generation int64, pods ...string) figures.PolicyFigures {
	f := figures.PolicyFigures{At: time.Now(), Over: figures.Window}
	for _, pod := range pods {
		f.Gateways = append(f.Gateways, figures.GatewayFigures{
			Pod: pod, Generation: generation, Since: time.Now(), LastReport: time.Now(),
		})
	}
	return f
}

func toldEvents(t *testing.T, namespace string) string {
	t.Helper()
	return strings.TrimSpace(env.RunKubectl(t, "get", "events", "-n", namespace, "-o", "jsonpath={range .items[*]}{.reason}: {.message}{\"\\n\"}{end}"))
}
