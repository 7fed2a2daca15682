// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// written is where servers tell all that they hold before they end; nil is nowhere.
var written atomic.Pointer[io.Writer]

const (
	// moment is how long a server that is about to end is asked for each.
	moment = time.Second
	// maxKeys are told: what one shows the others show too.
	maxKeys = 20
)

// TellAll has every server that is started from then on tell w, before it ends, all that a person sees who may look into it:
// names, values, clients, slow commands and refused ones.
func TellAll(w io.Writer) { written.Store(&w) }

// tell does that, as far as the server still answers.
func (s *Server) tell() {
	to := written.Load()
	if to == nil || s.cmd == nil {
		return
	}
	var all strings.Builder
	for _, command := range []string{"CLIENT LIST", "SLOWLOG GET 1000", "ACL LOG", "INFO", "KEYS *"} {
		lines, err := s.do(command, moment)
		if err != nil {
			return // it is paused, speaks TLS only or has another password by now
		}
		all.WriteString(strings.Join(lines, "\n") + "\n")
		if command != "KEYS *" {
			continue
		}
		for _, key := range lines[:min(len(lines), maxKeys)] {
			all.WriteString(s.value(key))
		}
	}
	_, _ = fmt.Fprintln(*to, all.String())
}

// value is what is under a name, whatever it is.
func (s *Server) value(key string) string {
	for _, command := range []string{"GET", "HGETALL", "ZRANGE %s 0 -1", "SMEMBERS", "LRANGE %s 0 -1"} {
		if !strings.Contains(command, "%s") {
			command += " %s"
		}
		if lines, err := s.do(fmt.Sprintf(command, key), moment); err == nil {
			return key + " " + strings.Join(lines, " ") + "\n"
		}
	}
	return key + "\n"
}
