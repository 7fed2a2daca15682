// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferral

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// command runs "gateway deferred" on the site's state directory.
func (s *site) command(args ...string) (string, error) {
	out, err := exec.Command(binary, append([]string{"deferred", "--state", s.state, "--namespace", "team-support"}, args...)...).CombinedOutput()
	return string(out), err
}

// TestTheCommandWorksWithAndWithoutAGateway: it lists, replays and drops, through the gateway that runs, else in the
// store; what it changed there the next gateway goes on with.
func TestTheCommandWorksWithAndWithoutAGateway(t *testing.T) {
	s := newSite(t, fakeprovider.Options{}, 1200, "deferred: {maxAttempts: 1}")
	p := s.start()
	if err := s.provider.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: 500, Count: -1}); err != nil {
		t.Fatal(err)
	}
	at := p.putOff(t)
	id := strings.TrimPrefix(at, "/_headgate/deferred/")
	eventually(t, "the dead letter", func() bool { status, _ := get(t, p.url+at); return status == http.StatusGone })
	s.provider.ClearFaults()
	for _, running := range []bool{true, false} {
		if !running {
			p.end(syscall.SIGKILL)
		}
		out, err := s.command("list")
		if err != nil || !strings.Contains(out, id) || !strings.Contains(out, "AttemptsExhausted") {
			t.Errorf("list, running %v: %v %s", running, err, out)
		}
		var list []struct{ ID, State string }
		out, err = s.command("list", "-o", "json")
		if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || list[0].State != "DeadLetter" {
			t.Errorf("list as JSON, running %v: %v %s", running, err, out)
		}
	}
	if out, err := s.command("replay", id); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	p = s.start()
	eventually(t, "the answer", func() bool { status, _ := get(t, p.url+at); return status == http.StatusOK })
	for _, words := range [][]string{{}, {"replay"}, {"replay", "x"}, {"frob", id}, {"replay", id}} {
		if out, err := s.command(words...); err == nil {
			t.Errorf("%v succeeded: %s", words, out)
		}
	}
	if out, err := s.command("drop", id); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if status, _ := get(t, p.url+at); status != http.StatusNotFound {
		t.Errorf("after drop: %d", status)
	}
}

// TestDrainLetsWhatHasLeftEnd: a call that is on its way when the gateway is told to end is not broken off, and its
// answer is there when the gateway is back.
func TestDrainLetsWhatHasLeftEnd(t *testing.T) {
	s := newSite(t, fakeprovider.Options{FirstByte: time.Second}, 1200, "")
	p := s.start()
	at := p.putOff(t)
	sent := func() (n int) {
		for _, a := range s.provider.Arrivals() {
			if a.Headers["idempotency-key"] != "" {
				n++
			}
		}
		return n
	}
	eventually(t, "the send", func() bool { return sent() == 1 })
	p.end(syscall.SIGTERM)
	p = s.start()
	eventually(t, "the answer", func() bool { status, _ := get(t, p.url+at); return status == http.StatusOK })
	if n := sent(); n != 1 {
		t.Errorf("the call was sent %d times", n)
	}
}
