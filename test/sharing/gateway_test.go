// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/excess"
)

var binary string

func TestMain(m *testing.M) { os.Exit(dataplane.Main(m, &binary)) }

// gateway is a gateway binary in a pod of its own.
type gateway struct {
	f    *fleet
	pod  figures.Pod
	url  string
	cmd  *exec.Cmd
	log  *dataplane.Log
	end  chan struct{}
	once sync.Once
	dir  string
}

// join starts a gateway in a new pod, and waits until it serves.
func (f *fleet) join() *gateway {
	f.t.Helper()
	f.mu.Lock()
	f.born++
	name := fmt.Sprintf("pod-%d", f.born)
	f.mu.Unlock()
	g := &gateway{f: f, pod: figures.Pod{Namespace: f.plan.Namespace, Name: name, UID: "uid-" + name}, dir: f.t.TempDir()}
	f.cluster.admit(g.pod, true)
	f.write(filepath.Join(g.dir, "plan", sidecar.PlanKey), f.json)
	f.write(filepath.Join(g.dir, "labels"), "app=\"test\"\n")
	f.write(filepath.Join(g.dir, "token"), g.pod.Namespace+"/"+g.pod.Name+"/"+g.pod.UID)
	f.write(filepath.Join(g.dir, "provider.pem"), f.providerCA)
	g.start()
	f.mu.Lock()
	f.gateways = append(f.gateways, g)
	f.mu.Unlock()
	f.t.Cleanup(func() { g.signal(syscall.SIGTERM) })
	return g
}

func (f *fleet) write(path, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// start starts the container: again, in the same pod, after a crash.
func (g *gateway) start() {
	g.f.t.Helper()
	at := func(name string) string { return filepath.Join(g.dir, name) }
	g.cmd = exec.Command(binary, "--plan", at("plan"), "--labels", at("labels"), "--token", at("token"),
		"--state", at("state"), "--namespace", g.pod.Namespace, "--ca-file", at("provider.pem"),
		"--coordinator", "https://"+g.f.coordinatorAddress(), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain", "5s")
	g.cmd.Env = append(os.Environ(), sidecar.EnvPodName+"="+g.pod.Name, sidecar.EnvPodUID+"="+g.pod.UID,
		sidecar.EnvCoordinatorCA+"="+g.f.cluster.ca, "GOMAXPROCS=2")
	f := g.f
	f.write(filepath.Join(g.dir, "state", ".keep"), "")
	stderr, err := g.cmd.StderrPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	g.log, g.end, g.once = &dataplane.Log{}, make(chan struct{}), sync.Once{}
	serving := make(chan string, 1)
	go follow(bufio.NewScanner(stderr), g.log, serving, g.end)
	select {
	case url := <-serving:
		f.mu.Lock()
		g.url = url
		f.mu.Unlock()
	case <-g.end:
		f.t.Fatalf("the gateway ended: %s", g.log)
	case <-time.After(dataplane.Patience):
		f.t.Fatalf("the gateway does not serve: %s", g.log)
	}
}

// follow keeps the log, and finds where the gateway serves.
func follow(lines *bufio.Scanner, kept *dataplane.Log, serving chan<- string, end chan<- struct{}) {
	defer close(end)
	for lines.Scan() {
		line := lines.Text()
		_, _ = kept.Write([]byte(line + "\n"))
		if _, rest, ok := strings.Cut(line, `"msg":"serving","data":"`); ok {
			address, _, _ := strings.Cut(rest, `"`)
			serving <- "http://" + address
		}
	}
}

// signal ends the gateway by a signal, and waits for it.
func (g *gateway) signal(s syscall.Signal) {
	g.once.Do(func() {
		_ = g.cmd.Process.Signal(s)
		<-g.end
		_ = g.cmd.Wait()
	})
}

// crash kills the container, which is started again.
func (g *gateway) crash() {
	g.signal(syscall.SIGKILL)
	g.start()
}

// leave deletes the pod.
func (g *gateway) leave() {
	f := g.f
	f.mu.Lock()
	for i, other := range f.gateways {
		if other == g {
			f.gateways = append(f.gateways[:i:i], f.gateways[i+1:]...)
			break
		}
	}
	f.mu.Unlock()
	g.signal(syscall.SIGTERM)
	f.cluster.admit(g.pod, false)
}

// post makes one call of so many input tokens, and tells its status.
func (g *gateway) post(client *http.Client, url string, tokens int) (status int, took time.Duration) {
	began := time.Now()
	body := fmt.Sprintf(`{"model":"claude-sonnet-4-5","max_tokens":4,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("ab ", tokens))
	r, err := http.NewRequest(http.MethodPost, url+"/anthropic/v1/messages", strings.NewReader(body))
	if err != nil {
		return 0, 0
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", "sk-of-the-app")
	// A connection that was made for another call and never used is closed by the gateway after a while, and a busy client may
	// choose it before it hears of that. An empty list has net/http try once more there, and is not sent.
	r.Header["Idempotency-Key"] = []string{}
	r.Header.Set("X-Fake-Input-Tokens", fmt.Sprint(tokens))
	excess.Stamp(r.Header, time.Now())
	resp, err := client.Do(r)
	if err != nil {
		return 0, time.Since(began)
	}
	_ = resp.Body.Close()
	return resp.StatusCode, time.Since(began)
}
