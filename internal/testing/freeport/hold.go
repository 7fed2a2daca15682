// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package freeport

import "syscall"

// hold is a socket that is bound to a port and never listens.
type hold int

// take binds a socket to a port. It does so alone, so that it fails where any socket of any process is bound already, and
// shares the port only after that: who listens there next, which asks to share as servers do, is not refused for it.
func take(port int) (hold, error) {
	h, err := socket()
	if err != nil {
		return -1, err
	}
	fd := int(h)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		h.release()
		return -1, err
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		h.release()
		return -1, err
	}
	return h, nil
}

// socket returns one that no process which is started meanwhile takes along.
func socket() (hold, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	syscall.CloseOnExec(fd)
	return hold(fd), nil
}

func (h hold) release() { _ = syscall.Close(int(h)) }
