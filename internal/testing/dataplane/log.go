// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dataplane

import (
	"bufio"
	"bytes"
	"encoding/json"
	"sync"
)

// Log is what a process wrote, for two goroutines.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is all of it so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// follow keeps the gateway's log and finds its addresses in it.
func (g *Gateway) follow(lines *bufio.Scanner, serving, ended chan<- struct{}) {
	defer close(ended)
	found := false
	for lines.Scan() {
		_, _ = g.Log.Write(append(lines.Bytes(), '\n'))
		var line struct{ Msg, Data, Admin string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" && !found {
			found = true
			g.URL, g.Admin = "http://"+line.Data, "http://"+line.Admin
			close(serving)
		}
	}
}
