// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// noProxy is the provider itself, as the direct measurements call it.
func noProxy(t *testing.T) *process {
	t.Helper()
	u, err := startUpstream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.stop)
	return &process{name: direct, address: u.address()}
}

func TestCallsAndStreamsReachTheProvider(t *testing.T) {
	p := noProxy(t)
	if m := paced(t.Context(), p, request(p, textBody(1_000)), 200, 200*time.Millisecond); m.failed != nil || m.calls != 40 || m.p50 <= 0 {
		t.Errorf("paced = %+v", m)
	}
	if m := saturated(t.Context(), p, request(p, imageBody(1<<20)), 2, 3*time.Second); m.failed != nil || m.calls == 0 {
		t.Errorf("saturated = %+v", m)
	}
	m := streamed(t.Context(), p, 3, 4, 5*time.Millisecond)
	if m.failed != nil || m.calls != 12 || m.p50 <= 0 || m.p50 > time.Minute {
		t.Errorf("streamed = %+v", m)
	}
}

func TestBodiesHaveTheSizeTheyClaim(t *testing.T) {
	for _, size := range []int{1_000, 100_000} {
		if got := len(textBody(size)); got < size-100 || got > size+100 {
			t.Errorf("text body of %d has %d bytes", size, got)
		}
	}
	if got := len(imageBody(10 << 20)); got < 10<<20 || got > 10<<20+1_000 {
		t.Errorf("image body has %d bytes", got)
	}
}

func TestStampsAreFoundWhereverTheyAre(t *testing.T) {
	var seen int
	eachStamp([]byte(`data: {"stamp":1,"id":"x"}`+"\n\n"+`data: {"stamp":2,"id":"x"}`), func(time.Duration) { seen++ })
	if seen != 2 {
		t.Errorf("%d stamps of 2", seen)
	}
}

func TestBars(t *testing.T) {
	f := figures{}
	for _, round := range []float64{1, 2, 9} {
		f.add(modeProxy, figureCPU, 100*round)
		f.add("gateway", figureCPU, 130*round)
	}
	f.add(direct, figureP50, 50)
	f.add(modeProxy, figureP50, 150)
	f.add("gateway", figureP50, 190) // 140 added to rp's 100
	f.add("gateway", figureIdle, 11)
	var out bytes.Buffer
	missed, err := printBars(&out, f.bars(0))
	if err != nil || missed != 1 {
		t.Errorf("%d missed, %v, want 1\n%s", missed, err, out.String())
	}
	for line, want := range map[string]string{
		"CPU per 1 KB call": "must met", "added p50": "MISSED", "RSS idle": "aim met", "stripped binary": "not measured",
		"calls/s on one core": "not measured",
	} {
		found := false
		for got := range strings.Lines(out.String()) {
			found = found || strings.HasPrefix(got, line) && strings.HasSuffix(strings.TrimSpace(got), want)
		}
		if !found {
			t.Errorf("%s is not %q in\n%s", line, want, out.String())
		}
	}
}
