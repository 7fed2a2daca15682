// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// message is a command, its answer or an event.
type message struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

// failure is why a command was refused.
type failure struct {
	Message string `json:"message"`
	Data    string `json:"data"`
}

// maxMessageBytes bounds one message; screenshots of long pages are the largest.
const maxMessageBytes = 64 << 20

// conn is the connection to the browser: messages end with a zero byte.
type conn struct {
	mu      sync.Mutex // writes, and what follows
	to      io.Writer
	next    int64
	waiting map[int64]chan message
	events  map[string]func(method string, params json.RawMessage) // by session
	closed  chan struct{}
}

func newConn(to io.Writer, from io.Reader) *conn {
	c := &conn{
		to: to, waiting: map[int64]chan message{}, closed: make(chan struct{}),
		events: map[string]func(string, json.RawMessage){},
	}
	go c.read(from)
	return c
}

// listen sends the events of a session to f, which must not call the browser.
func (c *conn) listen(session string, f func(method string, params json.RawMessage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events[session] = f
}

func (c *conn) read(from io.Reader) {
	defer close(c.closed)
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), maxMessageBytes)
	lines.Split(untilZero)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) == nil {
			c.deliver(m)
		}
	}
}

func untilZero(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF {
		return 0, nil, io.EOF
	}
	return 0, nil, nil
}

func (c *conn) deliver(m message) {
	c.mu.Lock()
	answer, event := c.waiting[m.ID], c.events[m.Session]
	delete(c.waiting, m.ID)
	c.mu.Unlock()
	switch {
	case m.Method != "" && event != nil:
		event(m.Method, m.Params)
	case answer != nil:
		answer <- m
	}
}

// errEnded says that the browser went away.
var errEnded = errors.New("the browser ended")

// call runs a command and decodes its result into out, unless that is nil.
func (c *conn) call(ctx context.Context, session, method string, params, out any) error {
	answer, err := c.send(session, method, params)
	if err != nil {
		return err
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s %s", method, m.Error.Message, m.Error.Data)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(m.Result, out)
	case <-c.closed:
		return fmt.Errorf("%s: %w", method, errEnded)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

func (c *conn) send(session, method string, params any) (<-chan message, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	line, err := json.Marshal(message{ID: c.next, Session: session, Method: method, Params: raw})
	if err != nil {
		return nil, err
	}
	answer := make(chan message, 1)
	c.waiting[c.next] = answer
	if _, err := c.to.Write(append(line, 0)); err != nil {
		delete(c.waiting, c.next)
		return nil, fmt.Errorf("%s: %w", method, errors.Join(errEnded, err))
	}
	return answer, nil
}
