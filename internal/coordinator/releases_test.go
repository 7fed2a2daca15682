// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator_test

import (
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/testing/bubble"
	"github.com/headgate-dev/headgate/internal/wire"
)

// with is a message with further fields, by number: numbers as varints, texts as bytes.
func with[M proto.Message](m M, fields map[protowire.Number]any) M {
	var more []byte
	for number, value := range fields {
		switch v := value.(type) {
		case int:
			more = protowire.AppendVarint(protowire.AppendTag(more, number, protowire.VarintType), uint64(v))
		case string:
			more = protowire.AppendString(protowire.AppendTag(more, number, protowire.BytesType), v)
		}
	}
	m.ProtoReflect().SetUnknown(more)
	return m
}

// release is what gateways of one release send.
type release struct {
	contract string
	hello    map[protowire.Number]any
	report   map[protowire.Number]any
	route    map[protowire.Number]any
	more     []*wire.Up
}

func (r release) greets(p figures.Pod) *wire.Up {
	up := hello(p)
	up.GetHello().ContractVersion = r.contract
	with(up.GetHello(), r.hello)
	return up
}

func (r release) reports(sequence, revision int, sends uint64) *wire.Up {
	up := reportOf(with(&wire.RouteReport{
		Policy: "support", Provider: "anthropic", Generation: 1, Calls: sends, Sends: sends,
		Limits: []*wire.LimitReport{with(&wire.LimitReport{Name: "tokens", Level: 6000, Capacity: 6000}, r.route)},
	}, r.route))
	up.GetReport().Sequence, up.GetReport().AcknowledgedRevision, up.GetReport().UptimeMillis = uint64(sequence), int64(revision), uint64(sequence)*1000
	with(up.GetReport(), r.report)
	return up
}

// releases are those that stand in running pods: the two before this one, one to come, after a manager was put back.
var releases = map[string]release{
	// It had shares instead of draws, and said which it held: contract 1.
	"shares and a contract of before": {
		contract: "1",
		hello:    map[protowire.Number]any{7: 1, 9: 3, 10: "\x0a\x01t"},
		report:   map[protowire.Number]any{7: 3, 9: 12},
		route:    map[protowire.Number]any{12: 5, 22: 1},
	},
	// It had shares still, and this release's contract.
	"shares": {contract: "2", hello: map[protowire.Number]any{7: 2}, report: map[protowire.Number]any{7: 3, 9: 1}},
	"one to come": {
		contract: "99",
		hello:    map[protowire.Number]any{100: "x", 101: 7},
		report:   map[protowire.Number]any{100: "x"},
		route:    map[protowire.Number]any{100: 9, 101: "x"},
		more:     []*wire.Up{with(&wire.Up{}, map[protowire.Number]any{15: "something new"})},
	},
}

// TestE13GatewaysOfOtherReleasesAreSpokenWith: they get the plan and each edit, what they report counts, and who draws
// nothing keeps its safe share, which the pool leaves to it.
func TestE13GatewaysOfOtherReleasesAreSpokenWith(t *testing.T) {
	for name, rel := range releases {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				w, r := running(t)
				defer r.kill()
				pod := w.pod("ns", "a", nil)
				c := w.raw(token(pod))
				defer c.close()
				plans := make(chan int64, 100)
				ended := make(chan error, 1)
				go func() {
					for {
						down, err := c.Receive()
						if err != nil {
							ended <- err
							return
						}
						if p := down.GetPlan(); p != nil {
							plans <- p.GetRevision()
						}
					}
				}()
				must(t, c.Send(rel.greets(pod)))
				if got := <-plans; got != 1 {
					t.Fatalf("the first plan is %d", got)
				}
				for i := range 60 {
					must(t, c.Send(rel.reports(i+1, 1, uint64(10*(i+1)))))
					for _, up := range rel.more {
						must(t, c.Send(up))
					}
					time.Sleep(time.Second)
				}
				figures := r.Policy("ns", "support", time.Now())
				if len(figures.Gateways) != 1 || figures.Gateways[0].Contract != rel.contract || len(figures.Providers) != 1 || figures.Providers[0].Sends < 500 {
					t.Errorf("it counts as %+v, %+v", figures.Gateways, figures.Providers)
				}
				for route, f := range r.Budgets().Routes {
					if f.Holders != 0 || f.Silent != 1 {
						t.Errorf("%v: %d hold and %d are silent, want the one on its safe share", route, f.Holders, f.Silent)
					}
				}
				r.setPlan(testPlan("ns", 2))
				if got := <-plans; got != 2 {
					t.Errorf("the edit came as %d", got)
				}
				must(t, c.Send(rel.reports(61, 2, 610)))
				time.Sleep(time.Second)
				if got := r.Acknowledged("ns")[pod].Revision; got != 2 {
					t.Errorf("acknowledged is %d", got)
				}
				select {
				case err := <-ended:
					t.Errorf("the stream ended: %v", err)
				default:
				}
			})
		})
	}
}

// TestE13WhatIsNotKnownIsBoundedToo: messages of another release do not get past the bound on what a gateway may send.
func TestE13WhatIsNotKnownIsBoundedToo(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w, r := running(t)
		defer r.kill()
		pod := w.pod("ns", "a", nil)
		c := w.raw(token(pod))
		defer c.close()
		messages := []*wire.Up{hello(pod)}
		for range 10_000 {
			messages = append(messages, with(&wire.Up{}, map[protowire.Number]any{15: "x"}))
		}
		if got := c.end(messages...); got != connect.CodeResourceExhausted {
			t.Errorf("the stream ended with %v", got)
		}
	})
}
