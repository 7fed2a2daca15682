// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/credential"
	"github.com/headgate-dev/headgate/internal/gateway/spool"
	"github.com/headgate-dev/headgate/internal/gateway/tally"
)

// The outcomes of a call.
const (
	outcomeSuccess   = "success"
	outcomeFailed    = "failed"           // the provider's own failure was passed on
	outcomeRefused   = "refused"          // ours
	outcomeCancelled = "client_cancelled" // the client left
	outcomeTruncated = "truncated"        // the provider broke off
	outcomeUpstream  = "unreachable"      // the provider could not be reached, or broke off before it answered
	// outcomeFailedOver: the client has the answer of another route, where the call is counted by its own outcome.
	outcomeFailedOver = "failed_over"
)

// statusClientLeft is what logs of many servers call a request whose client left.
const statusClientLeft = 499

// maxModelName bounds the model names that are kept, counted and logged.
const maxModelName = 128

// call is one call's way through the gateway. It is used by its handler's goroutine alone.
type call struct {
	g    *Gateway
	cfg  *config
	w    http.ResponseWriter
	r    *http.Request
	rest string

	arrived, deadline time.Time
	op                dialect.Operation
	req               dialect.Request
	body              *spool.Body
	// splice asks for usage; nil sends the body as it came.
	splice *dialect.Splice
	// unread: a part of the body was not read, or could not be.
	unread bool
	// signed requests pass as they came.
	signed bool
	// rejected: the provider refused that, and it is not asked again in this call.
	rejected bool
	ticket   *admission.Ticket
	estimate admission.Estimate
	// rule is the lane that the call is in, by its place in the plan, and lane its figures.
	rule int
	lane *tally.Lane
	// key is the gateway's own that the call is sent with, of the lane or the route; "" passes the app's on.
	key     string
	account admission.Account
	// keyed is just before the last send was given its key.
	keyed time.Time

	// later is set where the call is made without its caller; callback is where its answer goes should it be put off,
	// and full says that there was no room for that.
	later    *caller
	callback string
	full     bool

	// probe says that the current send tests whether an overload is over, judged that its end is told.
	probe  bool
	judged atomic.Bool
	// kept is how often the call was kept back by an overload of its model.
	kept int

	// sends counts what left; entered says that the ticket is in the gate's hands.
	sends   int
	entered bool
	waited  time.Duration
	source  string

	outcome, reason string
	status          int
	upstreamID      string
	begun           bool // the response to the client has begun

	// alive is w where its client hears something while the call waits, else nil.
	alive *alive

	// from is the call that failed over to this one, which then has its answer only if this one gets one; nil for a
	// call as it came. to is where a call has failed over, and standing the wait for which it did.
	from     *call
	to       *config
	standing time.Duration

	// away is how the end of a drain sees the call: see goes.
	away bool
}

func newCall(g *Gateway, cfg *config, w http.ResponseWriter, r *http.Request, rest string, now time.Time) *call {
	return &call{g: g, cfg: cfg, w: w, r: r, rest: rest, arrived: now, source: tally.WaitNone}
}

func (c *call) now() time.Time { return time.Now() }

// serve runs the call from its body to its answer.
func (c *call) serve() {
	if !c.routeWorks() || !c.read() {
		return
	}
	if c.op.Free {
		c.sendFree()
		return
	}
	if c.countable() && c.takesCallback() {
		c.run()
	}
}

// routeWorks answers a call whose route leads nowhere.
func (c *call) routeWorks() bool {
	switch {
	case c.cfg.baseErr != nil:
		c.unusable("the route's base URL cannot be used: "+spokenError(c.cfg.baseErr), reasonUpstream)
	case c.callsItself():
		c.unusable("the route's base URL is the gateway's own address", reasonUpstream)
	default:
		return true
	}
	return false
}

// run takes a call that was read through its lane to its answer.
func (c *call) run() {
	c.chooseLane()
	if !c.keyMayGo() || c.markedExhausted() || c.heldToWait() || !c.enter() {
		return
	}
	for {
		again := c.send()
		if again == nil || !c.reenter(again) {
			return
		}
	}
}

// end runs on every path, a panic included: the one place where reservation and memory are given back.
func (c *call) end() {
	c.stays()
	c.release()
	if c.body != nil {
		c.body.Release()
	}
	c.leftUnanswered()
	c.endAlive()
	c.g.inFlight.Add(-1)
	c.finish()
}

// release gives back what the call still holds of its route's budgets.
func (c *call) release() {
	if c.entered {
		// A settlement made before makes this one void.
		c.cfg.gate.Release(c.ticket, admission.Settlement{Kind: c.lastResort()})
	}
}

// finish counts and logs the call.
func (c *call) finish() {
	if c.lane != nil {
		if !c.op.Free {
			c.cfg.tally.Finished(c.sends)
		}
		if c.outcome == "" {
			c.outcome = outcomeFailed
		}
		c.lane.End(c.outcome, c.reason)
	}
	c.log()
}

// leftUnanswered answers a call whose client left before it had any answer. Without a status the server
// would say 200, and a client that has only closed its sending side would take that for a success.
func (c *call) leftUnanswered() {
	if c.outcome == outcomeCancelled && c.status == 0 && !c.begun {
		c.status = statusClientLeft
		c.w.WriteHeader(statusClientLeft)
	}
}

// lastResort is how a reservation ends that nothing else has ended.
func (c *call) lastResort() admission.Kind {
	if c.sends == 0 {
		return admission.NotSent
	}
	return admission.Kept
}

// read takes in the body and works out what the call may cost.
func (c *call) read() bool {
	d := c.cfg.dialect
	c.op = d.Operation(c.r.Method, c.rest)
	in := newIncoming(c.w, c.r, c.now)
	c.goes()
	body, err := spool.Read(c.r.Context(), c.g.opts.Memory, in, c.r.ContentLength)
	c.stays()
	if err != nil {
		c.unreadable(err)
		return false
	}
	// A call has arrived when its body has: a slow upload is not the gateway's waiting.
	c.arrived, c.body = c.now(), body
	if body.Replayable() {
		in.whole()
	} else {
		c.cfg.tally.NotReplayable.Add(1)
	}
	if c.op.Metered {
		c.req = c.readRequest(body.Bytes)
		c.req.Stream = c.req.Stream || c.op.Stream
		if !body.Replayable() {
			c.unread = true
			// Of a body that is not held, the part that was not read counts as text.
			c.req.TextBytes += max(c.r.ContentLength, spool.MaxReplayable) - int64(len(body.Bytes))
		}
	}
	// A path may name a model also where nothing is metered, and limits may be for it.
	c.req.Model = cleanModel(cmp.Or(c.op.Model, c.req.Model))
	return true
}

// unreadable answers a call whose body could not be taken in.
func (c *call) unreadable(err error) {
	if errors.Is(err, spool.ErrOverBudget) && c.r.Context().Err() == nil {
		c.lane = c.figuresOf(len(c.cfg.lanes) - 1)
		c.lane.Refused(reasonNoMemory)
		c.outcome = outcomeRefused
		c.refuse(dialect.Refusal{
			Status: http.StatusServiceUnavailable, Reason: reasonNoMemory, RetryAfter: time.Second,
			Message: "headgate: " + c.cfg.who + ": the gateway's memory for request bodies is used up. " + c.notSent(),
		})
		return
	}
	c.outcome = outcomeCancelled
	// Whoever is still there sent a broken body, or too little of it for too long.
	p := problem{http.StatusBadRequest, "headgate_bad_body", "headgate: the request's body is broken."}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		p = problem{http.StatusRequestTimeout, "headgate_body_timeout", "headgate: nothing more of the request's body came."}
	case c.r.Context().Err() != nil:
		return
	}
	c.status = p.status
	writeProblem(c.w, &p)
}

// unusable answers a call that cannot be sent for a reason that lies in the route or its provider.
func (c *call) unusable(why, reason string) {
	c.outcome = outcomeUpstream
	who := ""
	if c.cfg.policy != "" {
		who = c.cfg.who + ": "
	}
	c.refuse(dialect.Refusal{
		Status: http.StatusServiceUnavailable, Reason: reason, RetryAfter: time.Second,
		Message: "headgate: " + who + why + ". " + c.notSent(),
	})
}

// enter takes the call through admission to its first send.
func (c *call) enter() bool {
	c.prepareTicket()
	now := c.now()
	c.entered = true
	v := c.cfg.gate.Enter(c.ticket, now)
	if c.makesRoom(v) {
		v = c.cfg.gate.Enter(c.ticket, c.now())
	}
	if c.ticket.Shadow {
		c.lane.WouldHave(v.State == budget.Queued, v.State == budget.Refused)
		return true
	}
	return c.admitted(v, now)
}

// chooseLane estimates the call and finds its lane, and with it the key and the account that it uses.
func (c *call) chooseLane() {
	c.estimate = c.cfg.gate.Estimator().Of(&c.req)
	of := traits{input: c.estimate.Input, model: c.req.Model, header: c.r.Header}
	if c.cfg.rules.byPath {
		of.path, of.spelled = pathsOf(c.cfg.dialect, c.rest)
	}
	c.rule = c.pinned(c.cfg.rules.choose(&of))
	c.lane = c.figuresOf(c.rule)
	c.lane.Offered(c.estimate.Input)
	rule := &c.cfg.rules.rules[c.rule]
	c.useKey(rule.key)
	c.account = admission.Account{Fingerprint: rule.account, Model: c.req.Model}
	if c.key == "" {
		c.account.Fingerprint = c.cfg.dialect.Fingerprint(c.r.Header, c.r.URL.RawQuery)
	}
}

// stateDeadline reads what the caller says of its patience, and of who repeats its calls.
func (c *call) stateDeadline() {
	if sdk := stackedBy(c.r.Header); sdk != "" {
		c.cfg.tally.Stacked(sdk)
	}
	if malformedDeadline(c.r.Header) {
		c.cfg.tally.InvalidDeadlines.Add(1)
	}
	c.deadline = c.arrived.Add(c.patience())
}

// prepareTicket states what the call asks the gate for.
func (c *call) prepareTicket() {
	cfg := c.cfg
	if c.from == nil {
		c.stateDeadline()
	}
	c.ticket = &admission.Ticket{
		Account: c.account, Provider: cfg.provider, Lane: c.rule, Estimate: c.estimate,
		Metered: c.op.Metered, Arrival: c.arrived, Deadline: c.deadline, Bytes: int64(len(c.body.Bytes)), Shadow: cfg.plan.Observe,
		CallTime: c.attemptTime(),
		// Its caller asked for it once, however often it is tried.
		Counted: c.later != nil,
	}
}

// admitted waits for a queued call and answers a refused one.
func (c *call) admitted(v admission.Verdict, since time.Time) bool {
	if v.State == budget.Queued {
		c.stayAlive()
		var decided bool
		v, decided = c.wait(v, since)
		if !decided {
			return false
		}
		if waited := c.now().Sub(since); c.source == tally.WaitNone {
			c.source, c.waited = tally.WaitBudget, waited
		} else {
			c.waited += waited
		}
	}
	if v.State != budget.Admitted {
		c.declined(v)
		return false
	}
	return true
}

// attemptTime is what the call is expected to need from a send to the beginning of its answer.
func (c *call) attemptTime() time.Duration {
	return c.cfg.health.attemptTime(c.deadline.Sub(c.arrived))
}

func (c *call) countTooLarge(v admission.Verdict) {
	if v.Reason != budget.ReasonTooLarge {
		return
	}
	t := c.cfg.tally
	t.TooLarge.Add(1)
	for {
		old := t.LargestTooLarge.Load()
		if uint64(v.Need) <= old || t.LargestTooLarge.CompareAndSwap(old, uint64(v.Need)) {
			return
		}
	}
}

// replayable says whether the call could be sent again at all.
func (c *call) replayable() bool {
	return c.body.Replayable() && !c.cfg.plan.Observe && c.r.Context().Err() == nil
}

// credential puts the gateway's own key in place, if the call is sent with one, and returns the query to send.
func (c *call) credential(h http.Header, query string) (string, error) {
	if c.key == "" {
		return query, nil
	}
	key, err := c.g.opts.Credentials.Key(c.key, c.cfg.base)
	if err != nil {
		return "", err
	}
	return c.cfg.dialect.SetCredential(h, query, key), nil
}

// prepare makes the app's request the one to the provider, once.
func (c *call) prepare(ctx context.Context) (*http.Request, error) {
	path := c.rest
	if !c.signed {
		path = c.cfg.dialect.Path(path)
	}
	h, query := c.r.Header, c.r.URL.RawQuery
	if c.cfg.keepsHeader {
		h = h.Clone()
	}
	if c.from != nil && c.key != "" {
		query = credential.Strip(h, query)
	}
	c.prepareHeaders(h)
	query, err := c.credential(h, query)
	if err != nil {
		return nil, err
	}
	u, err := target(c.cfg.base, path, query)
	if err != nil {
		return nil, err
	}
	out := c.r.WithContext(ctx)
	out.URL, out.Host, out.RequestURI = u, u.Host, ""
	out.Header, out.Trailer, out.TransferEncoding, out.Close = h, nil, nil, false
	return out, nil
}

func cleanModel(s string) string {
	if len(s) > maxModelName {
		s = s[:maxModelName]
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "invalid"
	}
	return s
}

func (g *Gateway) random() float64 {
	if g.opts.Rand != nil {
		return g.opts.Rand()
	}
	return rand.Float64()
}
