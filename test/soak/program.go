// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// program is a binary that is started again and again, always with the same arguments and address.
type program struct {
	name, binary, address string
	args                  []string
	log                   *os.File

	mu  sync.Mutex
	cmd *exec.Cmd
}

// startWithin is how long a program may take to listen; the bar of the gateway is a hundredth of it.
const startWithin = 20 * time.Second

func newProgram(dir, name, binary, address string, args ...string) (*program, error) {
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	return &program{name: name, binary: binary, address: address, args: args, log: log}, nil
}

// start starts the program and waits until it listens.
func (p *program) start() error {
	cmd := exec.Command(p.binary, p.args...)
	cmd.Stderr = p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // nothing outlives a run
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.mu.Lock()
	p.cmd = cmd
	p.mu.Unlock()
	for began := time.Now(); time.Since(began) < startWithin; time.Sleep(2 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", p.address, time.Second)
		if err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("%s does not listen on %s", p.name, p.address)
}

// end signals the program and waits for its end.
func (p *program) end(signal syscall.Signal) {
	p.mu.Lock()
	cmd := p.cmd
	p.cmd = nil
	p.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(signal)
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(startWithin):
		_ = cmd.Process.Kill()
		<-ended
	}
}

// restart ends the program and starts it again.
func (p *program) restart(ctx context.Context, signal syscall.Signal) error {
	p.end(signal)
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.start()
}

// pid is 0 while the program does not run.
func (p *program) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// rss is the resident memory in bytes, and files how many descriptors are open.
func (p *program) usage() (rss, files float64, err error) {
	dir := filepath.Join("/proc", strconv.Itoa(p.pid()))
	raw, err := os.ReadFile(filepath.Join(dir, "statm"))
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0, 0, errors.New("unexpected /proc/PID/statm")
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return 0, 0, err
	}
	entries, err := os.ReadDir(filepath.Join(dir, "fd"))
	return pages * float64(os.Getpagesize()), float64(len(entries)), err
}
