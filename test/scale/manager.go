// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// manager is the process that is measured.
type manager struct {
	cmd                          *exec.Cmd
	coordinator, metrics, health string
	done                         chan struct{}

	mu  sync.Mutex
	log []byte
}

// maxLog is how much of its log is kept.
const maxLog = 8 << 10

// Write implements io.Writer for the log.
func (m *manager) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, p...)
	m.log = m.log[max(0, len(m.log)-maxLog):]
	return len(p), nil
}

func (m *manager) tail() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return string(m.log)
}

func launch(binary, kubeconfig string) (*manager, error) {
	m := &manager{done: make(chan struct{})}
	webhook := ""
	for _, a := range []*string{&m.coordinator, &m.metrics, &m.health, &webhook} {
		address, err := freeport.Address()
		if err != nil {
			return nil, err
		}
		*a = address
	}
	_, port, _ := net.SplitHostPort(webhook)
	m.cmd = exec.Command(binary, "--kubeconfig="+kubeconfig, "--namespace="+system, "--gateway-image=headgate/gateway:scale",
		"--advertise-address=127.0.0.1", "--coordinator-bind-address="+m.coordinator, "--webhook-port="+port,
		"--metrics-bind-address="+m.metrics, "--health-probe-bind-address="+m.health)
	m.cmd.Stdout, m.cmd.Stderr = m, m
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // nothing outlives a run
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the manager: %w", err)
	}
	go func() { _ = m.cmd.Wait(); close(m.done) }()
	return m, nil
}

func (m *manager) stop() {
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.done:
	case <-time.After(20 * time.Second):
		_ = m.cmd.Process.Kill()
		<-m.done
	}
}

func (m *manager) ready() error {
	select {
	case <-m.done:
		return errors.New("the manager has ended")
	default:
	}
	resp, err := http.Get("http://" + m.health + "/readyz")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("readyz says %d", resp.StatusCode)
	}
	return nil
}

// ticks are the kernel's units of CPU time, a hundredth of a second on Linux.
const ticks = 100

// usage is what the manager has used of CPU, and has of memory in bytes.
func (m *manager) usage() (cpu time.Duration, memory float64, err error) {
	return usage(m.cmd.Process.Pid)
}

func usage(pid int) (cpu time.Duration, memory float64, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	// After the command's name, which may hold spaces: utime and stime are the 12th and 13th, rss the 22nd.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	numbers := make([]float64, 3)
	for i, place := range []int{11, 12, 21} {
		if numbers[i], err = strconv.ParseFloat(fields[place], 64); err != nil {
			return 0, 0, err
		}
	}
	seconds := (numbers[0] + numbers[1]) / ticks
	return time.Duration(seconds * float64(time.Second)), numbers[2] * float64(os.Getpagesize()), nil
}

// counters reads metrics: the sums of those of a name, over all series whose labels contain a text.
func (m *manager) counters() (map[string]float64, error) {
	resp, err := http.Get("http://" + m.metrics + "/metrics")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return parseMetrics(resp.Body)
}

func parseMetrics(r io.Reader) (map[string]float64, error) {
	out := map[string]float64{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		series, value, ok := strings.Cut(lines.Text(), "} ")
		if !ok {
			series, value, ok = strings.Cut(lines.Text(), " ")
		}
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.HasPrefix(series, "#") {
			out[series] = v
		}
	}
	return out, lines.Err()
}
