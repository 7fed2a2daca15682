// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// within bounds every command; a busy machine may need a while to start a browser.
const within = 4 * time.Minute

// Browser is a running Chromium.
type Browser struct {
	t    *testing.T
	conn *conn
	cmd  *exec.Cmd
	log  bytes.Buffer
	// early says that it ended before it was told to: what it said matters then, and is noise otherwise.
	early bool
}

// names are what the browser's executable is called, Debian's first.
var names = []string{"chromium", "chromium-browser", "google-chrome"}

func find(t *testing.T) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("none of %v is installed: hack/packages browser installs it", names)
	return ""
}

// Start runs a browser until the end of the test.
func Start(t *testing.T) *Browser {
	t.Helper()
	b := &Browser{t: t}
	profile, err := os.MkdirTemp("", "headgate-browser") //nolint:usetesting // t.TempDir fails a test whose dying browser still writes
	if err != nil {
		t.Fatal(err)
	}
	// Flags: no sandbox, because tests run as root in containers; no shared memory, because containers have
	// little; nothing that calls home.
	b.cmd = exec.Command(find(t), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-default-apps", "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+profile, "about:blank")
	// A group of its own, so that its helpers end with it.
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	b.cmd.Stderr = &b.log
	b.cmd.WaitDelay = time.Minute // what it started in another group may keep its stderr open
	b.connect()
	t.Cleanup(func() { b.stop(profile) })
	return b
}

// connect starts the browser with our ends of its file descriptors 3, which it reads, and 4.
func (b *Browser) connect() {
	b.t.Helper()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	b.cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	err = b.cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		b.t.Fatal(err)
	}
	b.conn = newConn(ourOut, ourIn)
	b.t.Cleanup(func() { _, _ = ourOut.Close(), ourIn.Close() })
}

func (b *Browser) stop(profile string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	b.early = errors.Is(b.conn.call(ctx, "", "Browser.close", struct{}{}, nil), errEnded) && b.t.Failed()
	select {
	case <-b.conn.closed:
	case <-ctx.Done():
	}
	_ = syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	_ = b.cmd.Wait()
	if b.early {
		b.t.Logf("the browser said:\n%s", b.log.String())
	}
	if err := os.RemoveAll(profile); err != nil {
		b.t.Logf("the browser's profile stays: %v", err)
	}
}

// call runs a command, or fails the test.
func (b *Browser) call(session, method string, params, out any) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), within)
	defer cancel()
	if err := b.conn.call(ctx, session, method, params, out); err != nil {
		b.t.Fatal(err)
	}
}
