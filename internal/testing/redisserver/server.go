// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/canary"
	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// Password is what the server asks for: marked, so that it is found wherever it is shown.
const Password = canary.KeyMark + "-secret-of-the-store"

// patience is generous: a machine may be busy.
const patience = 3 * time.Minute

// Server is a server, running or not.
type Server struct {
	t *testing.T
	// Address is where it serves or will serve, without TLS; the same over restarts.
	Address string
	args    []string
	// ready is what it says, in small letters, when it serves.
	ready string
	// open says that it asks for no password.
	open  bool
	cmd   *exec.Cmd
	ended chan struct{}
}

// New returns a server that does not run yet. args are further ones of redis-server's.
func New(t *testing.T, args ...string) *Server {
	t.Helper()
	return newServer(t, "--port", args)
}

// StartTLS returns a server that runs, and speaks TLS only, with that certificate.
func StartTLS(t *testing.T, certFile, keyFile string) *Server {
	t.Helper()
	s := newServer(t, "--tls-port", []string{
		"--port", "0", "--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", certFile, "--tls-auth-clients", "no",
	})
	s.Run()
	return s
}

// newServer returns a server whose port is the value of portFlag.
func newServer(t *testing.T, portFlag string, args []string) *Server {
	t.Helper()
	address := freeport.For(t)
	_, port, _ := net.SplitHostPort(address)
	// What is written outlives a crash of the server, and nobody waits for a busy disk.
	s := &Server{t: t, Address: address, ready: "ready to accept connections", args: append([]string{
		portFlag, port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir(), "--requirepass", Password,
		"--appendonly", "yes", "--appendfsync", "no",
	}, args...)}
	t.Cleanup(func() {
		s.tell()
		s.Kill()
	})
	return s
}

// Start returns a server that runs.
func Start(t *testing.T, args ...string) *Server {
	t.Helper()
	s := New(t, args...)
	s.Run()
	return s
}

// URL is the server's, without its password.
func (s *Server) URL() string { return "redis://" + s.Address }

// PasswordFile writes Password to a file and returns its path.
func (s *Server) PasswordFile() string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "password")
	if err := os.WriteFile(path, []byte(Password+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// Run starts the server, for the first time or again with what it kept, and waits until it serves.
func (s *Server) Run() {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Fatal("redis-server is not on the PATH; hack/packages tests installs it")
	}
	s.cmd = exec.Command(path, s.args...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	s.ended = ended
	cmd := s.cmd
	go func() {
		defer close(ended)
		said := false
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if !said && strings.Contains(strings.ToLower(lines.Text()), s.ready) {
				said = true
				close(ready)
			}
		}
		_ = cmd.Wait()
	}()
	select {
	case <-ready:
	case <-ended:
		s.t.Fatal("redis-server ended")
	case <-time.After(patience):
		s.t.Fatal("redis-server is not ready")
	}
}

// Kill ends the server as a crash does.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}

// Pause has the server answer nothing, while its connections stay.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends a pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}
