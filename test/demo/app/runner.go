// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// runner starts calls at an even rate, whether or not the earlier ones have ended: that is what users do.
type runner struct {
	load  load.Run
	sdks  *sdks
	rec   *recorder
	slots chan struct{}
	text  string
}

func newRunner(run load.Run, s *sdks, rec *recorder) *runner {
	return &runner{
		load: run, sdks: s, rec: rec,
		slots: make(chan struct{}, run.MaxConcurrent),
		text:  prompt(run.InputTokens),
	}
}

// bytesPerToken is how the simulated provider counts text.
const bytesPerToken = 4

// prompt is a text of so many tokens: with words of three letters the gateway's estimate and the provider's count agree
// from the first call on, as they come to do with any text once usage was seen.
func prompt(tokens int64) string {
	const sentence = "may our man ask why the big box for him has not got out yet and who put the old one off "
	n := int(tokens) * bytesPerToken
	return strings.Repeat(sentence, n/len(sentence)+1)[:n]
}

// run makes the load, and returns when its calls have ended or had their time to. When ctx ends, no new ones are
// started; those in flight are not cut: a careful app drains.
func (r *runner) run(ctx context.Context) {
	defer r.rec.end()
	if !sleep(ctx, time.Until(time.UnixMilli(r.load.StartUnixMillis))) {
		return
	}
	flight, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.load.Length()+time.Duration(r.load.DrainSeconds)*time.Second)
	defer cancel()
	r.rec.begin()
	began := time.Now()
	every := time.Minute / time.Duration(r.load.CallsPerMinute)
	var calls sync.WaitGroup
	for i := int64(0); ; i++ {
		at := time.Duration(i) * every
		if at >= r.load.Length() || !sleep(ctx, time.Until(began.Add(at))) {
			break
		}
		r.start(flight, i, &calls)
	}
	calls.Wait()
}

func (r *runner) start(ctx context.Context, i int64, calls *sync.WaitGroup) {
	select {
	case r.slots <- struct{}{}:
	default:
		r.rec.skip()
		return
	}
	r.rec.start()
	calls.Go(func() {
		defer func() { <-r.slots }()
		c := call{
			text: r.text, output: r.load.OutputTokens,
			openAI: spread(i, r.load.OpenAIPercent), stream: i*7919%100 < r.load.StreamPercent,
		}
		began := time.Now()
		processing, err := r.sdks.do(ctx, c)
		r.rec.finish(r.load.InputTokens, time.Since(began), processing, err)
	})
}

// spread says whether call i is one of the percent that are chosen, evenly spread over all.
func spread(i, percent int64) bool { return (i+1)*percent/100 > i*percent/100 }

func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
