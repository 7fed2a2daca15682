// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferral

import (
	"bufio"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/leaks"
)

var binary string

// shown is what the gateways of all tests log, in which neither key nor prompt may stand.
var shown canary.Watch

// client's connections are its own, so that none is left when the tests are over.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func TestMain(m *testing.M) {
	code := dataplane.Main(m, &binary)
	for _, leak := range shown.Leaks(false) {
		fmt.Fprintln(os.Stderr, leak)
		code = 1
	}
	if err := leaks.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// key is the gateway's own.
const key = "sk-ant-c4n4ryKey-of-the-gateway-c4n4ryKey"

// site is a provider, and the directories of a gateway in front of it, which may be started again and again.
type site struct {
	t        *testing.T
	provider *fakeprovider.Server
	server   *httptest.Server
	// said is what the provider answered to each idempotency key last.
	said  said
	state string
	args  []string
}

// policy defers what cannot be made in time, in a bucket of so many requests a minute.
func policy(url string, perMinute int, more string) string {
	return fmt.Sprintf(`apiVersion: headgate.dev/v1alpha1
kind: RateLimitPolicy
metadata: {name: support, namespace: team-support}
spec:
  providers:
  - name: anthropic
    baseURL: %s
    credentialKey: anthropic
    limits:
    - {name: requests, budget: Requests, amount: %d, per: Minute, burst: 1}
    deadline: {default: 1s, onExceeded: Defer}
    throttle: {honourCeiling: 1s, onCeilingExceeded: Defer}
    %s
`, url, perMinute, more)
}

func newSite(t *testing.T, o fakeprovider.Options, perMinute int, more string) *site {
	t.Helper()
	s := &site{t: t, provider: fakeprovider.New(o)}
	s.server = httptest.NewTLSServer(s.said.by(s.provider))
	t.Cleanup(s.server.Close)
	dir, err := os.MkdirTemp("", "headgate") //nolint:usetesting // the path of the socket in it must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s.state = filepath.Join(dir, "state")
	s.write(filepath.Join(s.state, ".keep"), "")
	s.write(filepath.Join(dir, "policy.yaml"), policy(s.server.URL, perMinute, more))
	s.write(filepath.Join(dir, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.server.Certificate().Raw})))
	s.write(filepath.Join(dir, "keys", "anthropic"), key)
	s.write(filepath.Join(dir, "keys", "anthropic.hosts"), "127.0.0.1")
	s.args = []string{
		"--policy", filepath.Join(dir, "policy.yaml"), "--namespace", "team-support", "--ca-file", filepath.Join(dir, "ca.pem"),
		"--credentials", filepath.Join(dir, "keys"), "--state", s.state, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-level", "debug",
	}
	return s
}

func (s *site) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// process is one run of the gateway.
type process struct {
	cmd        *exec.Cmd
	url, admin string
	ended      chan struct{}
	log        *dataplane.Log
}

// start runs the gateway until it is killed, at the latest at the test's end.
func (s *site) start(more ...string) *process {
	s.t.Helper()
	p := &process{cmd: exec.Command(binary, append(append([]string{}, s.args...), more...)...), ended: make(chan struct{}), log: &dataplane.Log{}}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	serving := make(chan struct{})
	go p.follow(stderr, serving)
	s.t.Cleanup(func() {
		p.end(syscall.SIGKILL)
		shown.Look("the log of a gateway", p.log.String())
		s.keepsNoKey()
		if s.t.Failed() {
			s.t.Logf("log:\n%s", p.log)
		}
	})
	select {
	case <-serving:
	case <-p.ended:
		s.t.Fatalf("the gateway ended: %s", p.log)
	case <-time.After(patience):
		s.t.Fatalf("the gateway does not serve: %s", p.log)
	}
	return p
}

// keepsNoKey looks through what gateways keep of calls, prompts and all, for keys.
func (s *site) keepsNoKey() {
	files, _ := filepath.Glob(filepath.Join(s.state, "*"))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if at := canary.Keys(string(content)); err == nil && at != "" {
			s.t.Errorf("%s keeps a key: …%q…", file, at)
		}
	}
}

func (p *process) follow(r io.Reader, serving chan<- struct{}) {
	defer close(p.ended)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		_, _ = p.log.Write(append(lines.Bytes(), '\n'))
		var line struct{ Msg, Data, Admin string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" && p.url == "" {
			p.url, p.admin = "http://"+line.Data, "http://"+line.Admin
			close(serving)
		}
	}
	_ = p.cmd.Wait()
}

func (p *process) end(how syscall.Signal) {
	_ = p.cmd.Process.Signal(how)
	<-p.ended
}

// answer is what came of a call.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func do(method, url, body string, headers ...string) answer {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "sk-c4n4ryKey-of-the-app-c4n4ryKey")
	req.Header.Set("Cookie", "session=of-the-app")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(b), err}
}

const message = `{"model":"claude-sonnet-4-5","max_tokens":16,"messages":[{"role":"user","content":"hi c4n4ryPrompt"}]}`

func (p *process) ask(headers ...string) answer {
	return do(http.MethodPost, p.url+"/anthropic/v1/messages", message, headers...)
}

// putOff has a call deferred.
func (p *process) putOff(t *testing.T) (location string) {
	t.Helper()
	eventually(t, "a call to be deferred", func() bool {
		a := p.beside(func() answer { return p.ask("Headgate-Deadline", "0s") })
		location = a.header.Get("Location")
		return a.status == http.StatusAccepted
	})
	return location
}

// beside makes a call together with one that waits for its turn: a call is deferred only if another has just taken the turn,
// and on a slow machine a turn is over when the next call is made.
func (p *process) beside(call func() answer) answer {
	var other sync.WaitGroup
	other.Go(func() { p.ask() })
	defer other.Wait()
	return call()
}

// patience is generous: a machine may be busy.
const patience = 6 * time.Minute

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("%s did not come", what)
}
