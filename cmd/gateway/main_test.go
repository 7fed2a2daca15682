// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// output is a writer for two goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// policyOf is a policy of one provider with this name.
func policyOf(name string) string {
	return `apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: default}
spec:
  podSelector: {matchLabels: {app: nobody}}
  providers:
  - name: ` + name + `
    dialect: OpenAI
    baseURL: http://127.0.0.1:9
    limits: [{name: requests, budget: Requests, amount: 10, per: Minute}]
`
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	good := write(t, filepath.Join(dir, "good.yaml"), policyOf("first"))
	bad := write(t, filepath.Join(dir, "bad.yaml"), "kind: RateLimitPolicy\nspec: [")
	wrong := write(t, filepath.Join(dir, "wrong.yaml"), strings.Replace(policyOf("first"), "amount: 10", "amount: -10", 1))
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"version":                {[]string{"--version"}, 0, "gateway " + version + "\n"},
		"help":                   {[]string{"--help"}, 0, "-policy"},
		"unknown flag":           {[]string{"--no-such-flag"}, 2, "no-such-flag"},
		"unknown flag to probe":  {[]string{"probe", "--no-such-flag"}, 2, "no-such-flag"},
		"neither plan nor file":  {nil, 1, "one of --plan and --policy is required"},
		"both":                   {[]string{"--plan", dir, "--policy", good}, 1, "exclude each other"},
		"alone with coordinator": {[]string{"--policy", good, "--coordinator", "https://x:1"}, 1, "without --coordinator"},
		"negative drain":         {[]string{"--policy", good, "--drain", "-1s"}, 1, "--drain -1s is negative"},
		"no pings":               {[]string{"--policy", good, "--ping-interval", "0s"}, 1, "--ping-interval 0s is not between 10ms and 15s"},
		"pings too far apart":    {[]string{"--policy", good, "--ping-interval", "16s"}, 1, "--ping-interval 16s is not between"},
		"negative memory":        {[]string{"--policy", good, "--spool-mib", "-1"}, 1, "--spool-mib -1 is negative"},
		"memory that overflows":  {[]string{"--policy", good, "--spool-mib", "9000000000000"}, 1, "--spool-mib 9000000000000 is more than"},
		"level that is no word":  {[]string{"--policy", good, "--log-level", "loud"}, 1, `--log-level "loud" is not debug, info, warn or error`},
		"level of numbers":       {[]string{"--policy", good, "--log-level", "debug-4"}, 1, `--log-level "debug-4" is not`},
		"no level":               {[]string{"--policy", good, "--log-level", ""}, 1, `--log-level "" is not`},
		"a namespace of another": {[]string{"--policy", good, "--namespace", "team:a/b"}, 1, `--namespace "team:a/b" is not a namespace's name`},
		"a word that is no flag": {[]string{"--policy", good, "sesame", "--listen", "0.0.0.0:1"}, 1, "there is a word that is no flag's"},
		"missing policy file":    {[]string{"--policy", filepath.Join(dir, "none.yaml")}, 1, "none.yaml: no such file"},
		"policy that is no YAML": {[]string{"--policy", bad}, 1, "bad.yaml"},
		"policy that is wrong":   {[]string{"--policy", wrong}, 1, "amount"},
		"missing CA file":        {[]string{"--policy", good, "--ca-file", filepath.Join(dir, "none.pem")}, 1, "--ca-file"},
		"CA file without any":    {[]string{"--policy", good, "--ca-file", good}, 1, "certificate"},
		"sentinels":              {[]string{"--policy", good, "--deferred-store", "redis://a:26379,b:26379"}, 1, "--deferred-store: the URL of the store of deferred calls names several servers"},
		"store that is none":     {[]string{"--policy", good, "--deferred-store", "http://u:sesame@a"}, 1, "--deferred-store: the URL of the store of deferred calls is none"},
		"password of no store":   {[]string{"--policy", good, "--deferred-store-password-file", good}, 1, "is for --deferred-store"},
		"address that is none":   {[]string{"--policy", good, "--listen", "nowhere"}, 1, "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			var out output
			if code := run(tc.args, &out, &out); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if got := out.String(); !strings.Contains(got, tc.says) {
				t.Errorf("it says %q, want something of %q", got, tc.says)
			}
		})
	}
}

func TestProbeAsksTheDataPort(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"127.0.0.1:" + port, ":" + port} {
		// A probe waits for two seconds, in which a busy machine may not answer.
		code := -1
		for end := time.Now().Add(patience); code != 0 && time.Now().Before(end); {
			code = run([]string{"probe", "--listen", address}, io.Discard, io.Discard)
		}
		if code != 0 {
			t.Errorf("probe of %s ends with %d", address, code)
		}
	}
	if code := run([]string{"probe", "--listen", "nowhere"}, io.Discard, io.Discard); code != 1 {
		t.Errorf("probe of nowhere ends with %d", code)
	}
	var out output
	if code := run([]string{"probe", "--listen", freeport.For(t)}, &out, &out); code != 1 || !strings.Contains(out.String(), "does not answer") {
		t.Errorf("nobody answers: %d, %s", code, out.String())
	}
}

// process is the command running in this process.
type process struct {
	t           *testing.T
	log         *output
	data, admin string
	ended       chan int
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, log: &output{}, ended: make(chan int, 1)}
	args = append(args, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain", "5s")
	go func() { p.ended <- run(args, p.log, p.log) }()
	p.until("it serves", func() bool {
		for line := range strings.Lines(p.log.String()) {
			var said struct{ Msg, Data, Admin string }
			if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "serving" {
				p.data, p.admin = said.Data, said.Admin
			}
		}
		return p.data != ""
	})
	return p
}

// patience is for machines that are many times too slow.
const patience = 3 * time.Minute

func (p *process) until(what string, done func() bool) {
	p.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%s: not within %s; log:\n%s", what, patience, p.log.String())
		}
	}
}

func (p *process) get(address, path string) (int, string) {
	p.t.Helper()
	resp, err := http.Get("http://" + address + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

func (p *process) has(route string) bool {
	p.t.Helper()
	_, body := p.get(p.data, "/nobody")
	return strings.Contains(body, "/"+route)
}

// terminate sends this process the signal that a kubelet sends.
func (p *process) terminate() int {
	p.t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case code := <-p.ended:
		return code
	case <-time.After(patience):
		p.t.Fatal("the signal did not end it")
	}
	return -1
}

func TestEditsOfThePolicyFileAreFollowedAndBadOnesAreNot(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "policy.yaml"), policyOf("first"))
	p := start(t, "--policy", file)
	if code, _ := p.get(p.admin, "/healthz"); code != http.StatusOK {
		t.Errorf("health is %d", code)
	}
	if !p.has("first") {
		t.Error("the route is not served")
	}
	write(t, file, policyOf("second"))
	p.until("the edit is in force", func() bool { return p.has("second") && !p.has("first") })
	write(t, file, "kind: RateLimitPolicy\nspec: [")
	p.until("the bad edit is told of", func() bool { return strings.Contains(p.log.String(), "the last good one stays in force") })
	if !p.has("second") {
		t.Error("a bad edit took the last good policy away")
	}
	write(t, file, strings.Replace(policyOf("third"), "amount: 10", "amount: 0", 1))
	p.until("the next good edit is in force", func() bool { return p.has("third") })
	// Nobody applied it to an API server, which would have told him.
	p.until("what is probably not meant is told of", func() bool { return strings.Contains(p.log.String(), "0 lets no call pass") })
	if code := p.terminate(); code != 0 {
		t.Errorf("after SIGTERM it ends with %d", code)
	}
}

func TestPlanOfAMountedDirectoryIsServedAndKept(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	planJSON := func(revision, route string) string {
		return `{"version":1,"revision":` + revision + `,"namespace":"team","policies":[{"name":"default","generation":1,"maxGateways":4,
			"routes":[{"name":"` + route + `","dialect":"OpenAI","baseURL":"https://example.com","deadline":{"defaultMillis":60000},
			"throttle":{"honourCeilingMillis":30000,"jitterPercent":25,"maxAttempts":3},"unguided":{"baseMillis":500,"capMillis":30000},
			"overload":{"baseMillis":1000,"capMillis":30000,"maxAttempts":4},
			"lanes":[{"name":"default","sharePermille":1000,"maxDepth":256,"maxWaitMillis":50000}]}]}]}`
	}
	file := write(t, filepath.Join(dir, "plan.json"), planJSON("3", "mine"))
	p := start(t, "--plan", dir, "--state", state, "--namespace", "team")
	if !p.has("mine") {
		t.Errorf("the plan is not served; log:\n%s", p.log.String())
	}
	write(t, file, planJSON("4", "other")[:200])
	p.until("the half plan is told of", func() bool { return strings.Contains(p.log.String(), "plan refused") })
	if !p.has("mine") {
		t.Error("half a plan took the last good one away")
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("after SIGTERM it ends with %d", code)
	}
	// The container starts again while the file is broken.
	p = start(t, "--plan", dir, "--state", state, "--namespace", "team")
	if !p.has("mine") {
		t.Error("the last good plan did not outlive the container")
	}
	p.terminate()
}
