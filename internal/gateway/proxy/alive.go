// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
)

var (
	comment = []byte(": ping\n\n")
	// blank is what Google's API has instead: its SDKs take a comment for a chunk that is broken.
	blank = []byte("\n\n")
)

// stayAlive has the client of a stream hear something while its call waits, if the call's lane says so: rest ends that.
func (c *call) stayAlive() {
	if !c.cfg.plan.Lanes[c.rule].KeepAlive || !c.maySpeak() {
		return
	}
	if c.alive == nil {
		ctx, leave := context.WithCancelCause(c.r.Context())
		c.r = c.r.WithContext(ctx)
		c.alive = newAlive(c.w, c.ping(), c.asked(), c.g.opts.PingEvery, leave)
		c.w = c.alive
	}
	c.alive.wait(c.now())
}

// asked is when the client began to wait for its answer, on whichever route.
func (c *call) asked() time.Time {
	if c.from != nil {
		return c.from.arrived
	}
	return c.arrived
}

// maySpeak says whether a call's answer can begin before there is one: its client reads events, its connection carries a
// body without a length, and its request is read. What a signature covers may ask for a coding that was not said by then.
func (c *call) maySpeak() bool {
	return c.later == nil && c.req.Stream && !c.signed && c.body.Replayable() && c.r.Method == http.MethodPost &&
		c.r.ProtoAtLeast(1, 1) && c.ping() != nil
}

// ping is what the readers of the call's stream ignore; nil where that is none of server-sent events.
func (c *call) ping() []byte {
	switch c.op.Format {
	case dialect.FormatChat, dialect.FormatResponses, dialect.FormatMessages:
		return comment
	case dialect.FormatCohere:
		if strings.HasPrefix(c.cfg.dialect.Path(c.rest), "/v2/") {
			return comment // the first version has lines of JSON
		}
	case dialect.FormatGenerate:
		if query, err := url.ParseQuery(c.r.URL.RawQuery); err == nil && query.Get("alt") == "sse" {
			return blank // without it the answer is an array
		}
	default:
		// Their streams are lines, or AWS' frames.
	}
	return nil
}

// spoke says that the client has had a ping, and with it status 200.
func (c *call) spoke() bool { return c.alive != nil && c.alive.hasBegun() }

// endAlive tells a client that has had a ping how its call failed, if it did.
func (c *call) endAlive() {
	if c.alive == nil {
		return
	}
	failed := c.alive.end(c.streamFailure)
	if !c.spoke() {
		return
	}
	c.status = http.StatusOK
	if failed && c.outcome == outcomeSuccess {
		c.outcome = outcomeFailed // it is an answer, and not one that can stand in a stream
	}
}

// streamFailure is an answer that is no stream as an event of one.
func (c *call) streamFailure(status int, h http.Header, body []byte) []byte {
	f := dialect.StreamFailure{Status: status, Document: failure.Plain(h, body)}
	f.Message = failure.Message(failure.Read(nil, f.Document).Message)
	who := "headgate: " + c.cfg.who + ": "
	switch {
	case status == 0:
		f.Status, f.Message = http.StatusInternalServerError, who+"the call failed in the gateway."
	case status == statusClientLeft:
		f.Message = who + "the call was given up, since its client had left. " + c.notSent()
	case status < http.StatusMultipleChoices:
		f.Status = http.StatusBadGateway
		is, _ := opensError(f.Document)
		if !is { // else it is nothing but an error, and says it
			f.Document = nil
		}
		if !is || f.Message == "" {
			f.Message = who + c.cfg.display + " answered, and not with a stream."
		}
	case f.Message == "":
		f.Message = who + c.cfg.display + " answered with status " + strconv.Itoa(status) + "."
	}
	return c.cfg.dialect.StreamError(c.op, f)
}
