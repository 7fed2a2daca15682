// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// bench is one run.
type bench struct {
	o        *options
	upstream *upstream
	proxies  []*process
	// secure is the provider behind TLS and HTTP/2, and secured the proxies in front of it.
	secure  *secureUpstream
	secured []*process
	figures figures
}

// measureAll runs every part and prints the report.
func measureAll(ctx context.Context, o *options) error {
	b := &bench{o: o, figures: figures{}}
	if o.runs("calls") || o.runs("bodies") || o.runs("secure") || o.runs("streams") || o.runs("process") {
		if err := b.proxyParts(ctx); err != nil {
			return err
		}
	}
	var overload error
	if o.overload > 0 && o.runs("overload") {
		overload = measureOverload(ctx, o)
	}
	return overload
}

func (b *bench) proxyParts(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "headgate-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if b.upstream, err = startUpstream(); err != nil {
		return err
	}
	defer b.upstream.stop()
	defer b.stopSecured()
	if b.o.runs("secure") {
		if err := b.startSecured(dir); err != nil {
			return err
		}
	}
	defer func() {
		for _, p := range b.proxies {
			p.stop()
		}
	}()
	for _, s := range b.o.starters() {
		err := b.startProxy(s, dir)
		if err != nil && !s.required {
			fmt.Fprintln(os.Stderr, "left out:", err)
			continue
		}
		if err != nil {
			return err
		}
	}
	if err := b.measure(ctx, dir); err != nil {
		return err
	}
	return b.report()
}

// startProxy starts one proxy and proves that it answers.
func (b *bench) startProxy(s starter, dir string) error {
	p, err := s.start(dir, provider{address: b.upstream.address()})
	if err != nil {
		return err
	}
	if err = p.waitListening(); err == nil {
		err = warm(p)
	}
	if err != nil {
		p.stop()
		return err
	}
	b.proxies = append(b.proxies, p)
	return nil
}

// warm makes one call of each kind.
func warm(p *process) error {
	c, err := dial(p.address)
	if err != nil {
		return err
	}
	defer c.close()
	deadline := time.Now().Add(10 * time.Second)
	for {
		err = c.call(request(p, textBody(1_000)))
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %w: %s", p.name, err, p.stderr.String())
		}
		time.Sleep(10 * time.Millisecond)
		c.close()
		if c, err = dial(p.address); err != nil {
			return err
		}
	}
}

// part is one measurement of one proxy.
type part struct {
	name   string
	direct bool // also without any proxy
	run    func(ctx context.Context, p *process) error
}

// tried runs a part, and once more where the peer failed: of a thousand streams at once rp now and then closes a connection that
// it still reads, as its log says. The gateway has no second try.
func (p part) tried(ctx context.Context, proxy *process) error {
	err := p.run(ctx, proxy)
	if err == nil || proxy.name == "gateway" || ctx.Err() != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s failed, and is tried once more: %v\n", proxy.name, err)
	return p.run(ctx, proxy)
}

func (b *bench) parts() []part {
	parts := []part{}
	add := func(group string, ps ...part) {
		if b.o.runs(group) {
			parts = append(parts, ps...)
		}
	}
	add("process", part{"memory", false, b.measureMemory})
	add("calls", part{"1 KB calls at 1,000/s", true, b.measurePaced}, part{"1 KB calls, 64 at once", false, b.measureSaturated},
		part{"a call after a rest", false, b.measureRested})
	add("secure", part{"1 KB calls by TLS and HTTP/2", false, b.measureSecure})
	add("bodies", part{"100 KB bodies", false, b.measureBody}, part{"10 MiB bodies", false, b.measureImage})
	add("streams", part{"streams", true, b.measureStreams})
	return parts
}

// measure runs the parts, proxy by proxy, round by round.
func (b *bench) measure(ctx context.Context, dir string) error {
	none := &process{name: direct, address: b.upstream.address(), cmd: nil}
	for _, part := range b.parts() {
		rounds := b.o.rounds
		if part.name == "memory" {
			rounds = 1
		}
		for round := range rounds {
			fmt.Fprintf(os.Stderr, "%s, round %d of %d\n", part.name, round+1, rounds)
			if part.direct {
				if err := part.run(ctx, none); err != nil {
					return fmt.Errorf("%s, direct: %w", part.name, err)
				}
			}
			for _, p := range b.proxies {
				if err := part.tried(ctx, p); err != nil {
					return fmt.Errorf("%s, %s: %w: %s", part.name, p.name, err, p.stderr.String())
				}
			}
		}
	}
	for _, p := range b.proxies {
		loaded, err := p.rss()
		if err != nil {
			return err
		}
		b.figures.add(p.name, figureLoaded, float64(loaded)/1e6)
	}
	if b.o.runs("process") {
		return b.measureStarts(dir)
	}
	return ctx.Err()
}

func (b *bench) measureMemory(ctx context.Context, p *process) error {
	idle, perStream, busy, err := memoryPerStream(ctx, p)
	if err != nil {
		return err
	}
	b.figures.add(p.name, figureIdle, float64(idle)/1e6)
	b.figures.add(p.name, figurePerStream, float64(perStream)/1e3)
	b.figures.add(p.name, figureSlow, 1000*busy)
	return nil
}

func (b *bench) measurePaced(ctx context.Context, p *process) error {
	m := paced(ctx, p, request(p, textBody(1_000)), 1_000, b.o.seconds)
	if m.failed != nil {
		return m.failed
	}
	b.figures.add(p.name, figureP50, micros(m.p50))
	b.figures.add(p.name, figureCPU, micros(m.perCall()))
	return nil
}

// measureRested makes a call when there was none for longer than the gateway keeps a grant that it does not need: it waits for the
// next one.
func (b *bench) measureRested(ctx context.Context, p *process) error {
	const rest = 2500 * time.Millisecond
	if p.name != modeProxy && p.name != "gateway" {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rest):
	}
	c, err := dial(p.address)
	if err != nil {
		return err
	}
	defer c.close()
	began := time.Now()
	err = c.call(request(p, textBody(1_000)))
	b.figures.add(p.name, figureRested, inMillis(time.Since(began)))
	return err
}

func (b *bench) measureSaturated(ctx context.Context, p *process) error {
	m := saturated(ctx, p, request(p, textBody(1_000)), 64, b.o.seconds)
	if m.failed != nil {
		return m.failed
	}
	b.figures.add(p.name, figureRate, m.perSecond())
	return nil
}

func (b *bench) measureBody(ctx context.Context, p *process) error {
	m := paced(ctx, p, request(p, textBody(100_000)), 300, b.o.seconds)
	if m.failed != nil {
		return m.failed
	}
	b.figures.add(p.name, figureBody, micros(m.perCall()))
	return nil
}

func (b *bench) measureImage(ctx context.Context, p *process) error {
	m := saturated(ctx, p, request(p, imageBody(10<<20)), 1, b.o.seconds)
	if m.failed != nil {
		return m.failed
	}
	b.figures.add(p.name, figureImage, inMillis(m.perCall()))
	return nil
}

func (b *bench) measureStreams(ctx context.Context, p *process) error {
	const streams, every = 50, 20 * time.Millisecond
	m := streamed(ctx, p, streams, int(b.o.seconds/every), every)
	if m.failed != nil {
		return m.failed
	}
	b.figures.add(p.name, figureDelay, micros(m.p50))
	b.figures.add(p.name, figureChunk, micros(m.perCall()))
	return nil
}

// measureStarts starts the gateway and rp anew, several times each.
func (b *bench) measureStarts(dir string) error {
	for range max(3, b.o.rounds) {
		for _, s := range b.o.starters() {
			if !s.required {
				continue
			}
			p, err := s.start(dir, provider{address: b.upstream.address()})
			if err != nil {
				return err
			}
			took, err := firstAnswer(p)
			p.stop()
			if err != nil {
				return fmt.Errorf("%s: %w: %s", s.name, err, p.stderr.String())
			}
			b.figures.add(s.name, figureStart, inMillis(took))
		}
	}
	return nil
}

// firstAnswer is the time from the process's start to its first proxied answer.
func firstAnswer(p *process) (time.Duration, error) {
	raw := request(p, textBody(1_000))
	last := errors.New("never asked")
	for time.Since(p.started) < 20*time.Second {
		c, err := dial(p.address)
		if err == nil {
			err = c.call(raw)
			c.close()
		}
		if err == nil {
			return time.Since(p.started), nil
		}
		last = err
		time.Sleep(500 * time.Microsecond)
	}
	return 0, last
}

func (b *bench) report() error {
	names := []string{direct}
	for _, p := range b.proxies {
		names = append(names, p.name)
	}
	fmt.Println("\nmedians of", b.o.rounds, "interleaved rounds; the proxy alone on one core, the gateway as injected, with a coordinator")
	if err := b.figures.table(os.Stdout, names); err != nil {
		return err
	}
	size := 0.0
	if info, err := os.Stat(b.o.gateway); err == nil {
		size = float64(info.Size()) / 1e6
	}
	fmt.Println()
	missed, err := printBars(os.Stdout, b.figures.bars(size))
	if err == nil && missed > 0 && b.o.strict {
		err = fmt.Errorf("%d bars missed", missed)
	}
	return err
}
