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
	op      *operation
	api     api
	dialect Dialect
	started time.Time
	number  uint64
	id      string
	key     string
	req     request
	size    size
	account *account
	arrival *Arrival
	fault   *Fault
	body    bodyFacts
	// produced is the output charged so far.
	produced int64
}

type bodyFacts struct {
	bytes  int64
	sha256 string
}

func newCall(s *Server, w http.ResponseWriter, r *http.Request) *call {
	op, dialect := operationOf(r)
	c := &call{s: s, w: w, r: r, op: op, dialect: dialect, api: apiOf(dialect)}
	c.started, c.number, c.key = s.opts.Now(), s.nextRequest(), apiKey(r.Header)
	header, prefix := c.api.requestID()
	c.id = fmt.Sprintf("%s%024d", prefix, c.number)
	w.Header().Set(header, c.id)
	return c
}

// serve answers the call: read, log, fault, admit, answer, settle.
func (c *call) serve() {
	problem, status := c.read()
	c.log()
	defer c.end()
	if status != 0 {
		c.refuse(status, "Rejected", c.api.fault(c, status, problem))
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
	case c.dialect != Generic && !c.s.accepts(c.key):
		return "Incorrect API key provided", http.StatusUnauthorized
	}
	return c.decode(body)
}

func (c *call) decode(body []byte) (problem string, status int) {
	if c.op.valid != nil {
		if err := json.Unmarshal(body, &c.req); err != nil {
			return "We could not parse the JSON body of your request.", http.StatusBadRequest
		}
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

// accepts says whether an API key is good.
func (s *Server) accepts(key string) bool {
	if len(s.opts.Keys) == 0 {
		return key != "" && !strings.HasPrefix(key, "sk-invalid")
	}
	for _, k := range s.opts.Keys {
		if k == key {
			return true
		}
	}
	return false
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
	c.refuse(http.StatusTooManyRequests, "Throttled", c.api.throttle(c, t))
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
}

// output is how many tokens are produced in all answers together.
func (c *call) output() int64 { return c.size.output * int64(c.req.answers()) }

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
