// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// Do has the server do one command, words parted by a space, and returns its answer's lines: an array's elements, else
// one. An error of the server's fails the test.
func (s *Server) Do(command string) []string {
	s.t.Helper()
	lines, err := s.do(command, patience)
	if err != nil {
		s.t.Fatalf("%s: %v", command, err)
	}
	return lines
}

// do is Do for who can do without an answer.
func (s *Server) do(command string, within time.Duration) ([]string, error) {
	conn, err := net.DialTimeout("tcp", s.Address, within)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(within))
	in := bufio.NewReader(conn)
	if !s.open {
		if _, err := fmt.Fprintf(conn, "AUTH %s\r\n", Password); err != nil {
			return nil, err
		}
		if _, err := reply(in); err != nil {
			return nil, err
		}
	}
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return nil, err
	}
	return reply(in)
}

// reply reads one answer of the protocol's second version.
func reply(in *bufio.Reader) ([]string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, text := line[0], strings.TrimRight(line[1:], "\r\n")
	switch kind {
	case '-':
		return nil, fmt.Errorf("redis-server: %s", text)
	case '$', '*':
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, err
		}
		if kind == '$' {
			body := make([]byte, n+2)
			_, err := io.ReadFull(in, body)
			return []string{string(body[:n])}, err
		}
		var out []string
		for range n {
			element, err := reply(in)
			if err != nil {
				return nil, err
			}
			out = append(out, element...)
		}
		return out, nil
	}
	return []string{text}, nil
}
