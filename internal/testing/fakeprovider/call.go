// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// call is one API call.
type call struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	p       *provider
	api     api
	dialect Dialect
	target  target
	op      *operation
	started time.Time
	number  uint64
	id      string
	key     string
	req     request
	size    size
	account *account
	// admitted: the call's cost was taken from its account.
	admitted bool
	arrival  *Arrival
	fault    *Fault
	body     bodyFacts
	// status is that of the answer, 0 before.
	status int
	// produced is the output charged so far.
	produced int64
	// keeper keeps the answer of a call with an idempotency key, and complete says that all of it was written.
	keeper   *keeper
	complete bool
}

type bodyFacts struct {
	bytes  int64
	sha256 string
}

func newCall(s *Server, w http.ResponseWriter, r *http.Request) *call {
	p, t := s.destination(r)
	c := &call{s: s, w: w, r: r, p: p, api: p.api, dialect: p.dialect, target: t, op: t.op}
	if c.op != nil && c.op.api != nil {
		c.api = c.op.api
	}
	c.started, c.number, c.key = s.opts.Now(), s.nextRequest(), p.keys.of(r)
	header, id := c.api.requestID(c.number)
	c.id = id
	if header != "" {
		w.Header().Set(header, c.id)
	}
	return c
}

// serve answers the call: read, log, fault, admit, answer, settle.
func (c *call) serve() {
	problem, status := c.read()
	c.log()
	defer c.end()
	defer c.keep()
	if status != 0 {
		status, body := c.api.fault(c, status, problem)
		c.refuse(status, "Rejected", body)
		return
	}
	if c.replayed() {
		return
	}
	if c.fault = c.s.takeFault(c); c.fault != nil {
		c.note(func(a *Arrival) { a.Fault = c.fault.Kind })
	}
	if c.fault != nil && c.fault.before(c) {
		return
	}
	if !c.op.free && !c.admit() {
		return
	}
	c.answer()
}

// read reads and checks the call; status is 0 if it may go on.
func (c *call) read() (problem string, status int) {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, c.s.opts.MaxBodyBytes))
	sum := sha256.Sum256(body)
	c.body = bodyFacts{int64(len(body)), hex.EncodeToString(sum[:])}
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return "Request exceeds the maximum size", http.StatusRequestEntityTooLarge
	case err != nil:
		return "The body could not be read", http.StatusBadRequest
	case c.op == nil:
		return fmt.Sprintf("Invalid URL (%s %s)", c.r.Method, c.r.URL.Path), http.StatusNotFound
	}
	if c.p.refuses != nil {
		if problem, status := c.p.refuses(c.r); status != 0 {
			return problem, status
		}
	}
	if problem, status := c.authenticate(body); status != 0 {
		return problem, status
	}
	return c.decode(body)
}

func (c *call) decode(body []byte) (problem string, status int) {
	if c.op.valid != nil {
		c.req.Stream = c.target.streamByDefault
		if err := c.op.unmarshal(body, &c.req); err != nil {
			return "We could not parse the JSON body of your request.", http.StatusBadRequest
		}
		c.target.apply(&c.req)
		if problem := c.op.valid(&c.req); problem != "" {
			return problem, http.StatusBadRequest
		}
	}
	c.size = measure(&c.req, c.r.Header, c.s.opts.OutputTokens)
	if c.dialect == Generic && c.r.Header.Get("X-Fake-Input-Tokens") == "" {
		c.size.input = max(1, (int64(len(body))+bytesPerToken-1)/bytesPerToken)
	}
	if strings.HasPrefix(c.req.Model, "no-such-model") {
		return c.req.Model, http.StatusNotFound
	}
	return "", 0
}

// admit takes the call from its buckets, or answers 429.
func (c *call) admit() bool {
	verdict, at := c.s.admit(c)
	if verdict.Admitted {
		return true
	}
	cost := c.admissionCost(at.Budget, c.s.opts.Profiles[c.dialect].Charges)
	t := throttled{level: at, cost: cost, wait: verdict.Wait, never: verdict.Never}
	c.writeGuidance(t)
	status, body := c.api.throttle(c, t)
	c.refuse(status, "Throttled", body)
	return false
}

// refuse answers with an error.
func (c *call) refuse(status int, verdict string, body any) {
	c.note(func(a *Arrival) { a.Verdict = verdict })
	c.writeJSON(status, body)
}

// answer answers a call that was admitted.
func (c *call) answer() {
	c.note(func(a *Arrival) { a.Verdict = "Admitted" })
	if c.op.stream != nil && c.req.Stream {
		c.writeStream()
		return
	}
	latency := c.s.opts.FirstByte + c.s.opts.PerToken*time.Duration(c.size.output)
	if !c.sleep(latency) {
		return
	}
	if c.fault != nil && c.fault.during(c) {
		return
	}
	if !c.op.free {
		c.s.settle(c, c.output())
	}
	c.writeJSON(http.StatusOK, c.op.answer(c))
	c.complete = true
}

// unmarshal reads a body.
func (o *operation) unmarshal(body []byte, r *request) error {
	if err := json.Unmarshal(body, r); err != nil || o.decode == nil {
		return err
	}
	return o.decode(body, r)
}

// output is how many tokens are produced in all answers together.
func (c *call) output() int64 { return c.size.output * int64(c.req.answers()) }

// visible is how many tokens of each answer are text, text what they say, and reasoning how many tokens of all
// answers together are not.
func (c *call) visible() int64   { return c.size.output - c.size.reasoning }
func (c *call) text() string     { return Text(c.visible()) }
func (c *call) reasoning() int64 { return c.size.reasoning * int64(c.req.answers()) }

// sleep waits for d; false if the caller left meanwhile.
func (c *call) sleep(d time.Duration) bool {
	if d <= 0 {
		return c.r.Context().Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.r.Context().Done():
		return false
	}
}

// end notes how the call ended.
func (c *call) end() {
	c.s.refund(c)
	gone := errors.Is(c.r.Context().Err(), context.Canceled)
	now := c.s.opts.Now()
	c.note(func(a *Arrival) {
		a.ClientGone = gone
		a.EndedUnixNano = now.UnixNano()
		a.OutputTokens = c.produced
	})
}
