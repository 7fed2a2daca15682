// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a proxy under test.
type process struct {
	name string
	// base is where it listens, and path what it wants before the provider's path.
	address string
	path    string
	cmd     *exec.Cmd
	started time.Time
	stderr  bytes.Buffer
	// beside is a process that this one needs; nil for none.
	beside *process
}

// alone is the command line that runs a command on the first core.
func alone(binary string, args ...string) (string, []string) {
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		return binary, args
	}
	return taskset, append([]string{"-c", "0", binary}, args...)
}

// start runs a proxy on the first core.
func start(name, address, path, binary string, args ...string) (*process, error) {
	binary, args = alone(binary, args...)
	p, err := startIn(name, address, nil, binary, args...)
	if p != nil {
		p.path = path
	}
	return p, err
}

// startIn runs a command with further variables on this process's own core.
func startIn(name, address string, env []string, binary string, args ...string) (*process, error) {
	p := &process{name: name, address: address}
	p.cmd = exec.Command(binary, args...)
	p.cmd.Stderr = &limitedWriter{&p.stderr, maxStderr}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // nothing outlives a run
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// maxStderr bounds what is kept of a process's complaints.
const maxStderr = 1 << 16

// limitedWriter keeps the first bytes of what is written.
type limitedWriter struct {
	buf  *bytes.Buffer
	left int
}

// Write implements io.Writer.
func (w *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.buf.Write(p[:n])
	w.left -= n
	return len(p), nil
}

// stop ends the process, and the one beside it, and waits for them.
func (p *process) stop() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(3 * time.Second):
		_ = p.cmd.Process.Kill()
		<-done
	}
	if p.beside != nil {
		p.beside.stop()
	}
}

// cpu is the processor time the process has used: to the nanosecond from the scheduler's figures of its threads, of which
// none ends while it is measured.
func (p *process) cpu() (time.Duration, error) {
	if p.cmd == nil { // no proxy at all
		return 0, nil
	}
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "task", "*", "schedstat"))
	if err != nil || len(threads) == 0 {
		return p.ticks()
	}
	var sum time.Duration
	for _, thread := range threads {
		raw, err := os.ReadFile(thread)
		if err != nil {
			return 0, err
		}
		ran, _, _ := strings.Cut(string(raw), " ")
		n, err := strconv.ParseInt(ran, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n)
	}
	return sum, nil
}

// cpuTick is what /proc counts in.
const cpuTick = 10 * time.Millisecond

// ticks is the processor time by the process's own figure.
func (p *process) ticks() (time.Duration, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "stat"))
	if err != nil {
		return 0, err
	}
	// The name in parentheses may hold spaces; utime and stime are the 12th and 13th fields after it.
	_, rest, ok := strings.Cut(string(raw), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, errors.New("unexpected /proc/PID/stat")
	}
	user, errUser := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * cpuTick, errors.Join(errUser, errSystem)
}

// rss is its resident memory in bytes.
func (p *process) rss() (int64, error) {
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "statm"))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0, errors.New("unexpected /proc/PID/statm")
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
