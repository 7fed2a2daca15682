// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package freeport

import "syscall"

// hold is a socket that is bound to a port and never listens.
type hold int

// take binds a socket to a port. It does so alone, so that it fails where any socket of any process is bound already, and
// shares the port only after that: who listens there next, which asks to share as servers do, is not refused for it.
func take(port int) (hold, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	syscall.CloseOnExec(fd)
	h := hold(fd)
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

func (h hold) release() { _ = syscall.Close(int(h)) }
