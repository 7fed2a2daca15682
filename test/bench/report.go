// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// series are one figure of one proxy, a value for each round.
type series []float64

func (s series) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[len(sorted)/2]
}

// figures are the series of each proxy, by proxy and figure.
type figures map[string]map[string]series

func (f figures) add(proxy, figure string, v float64) {
	if f[proxy] == nil {
		f[proxy] = map[string]series{}
	}
	f[proxy][figure] = append(f[proxy][figure], v)
}

// get is the median of a figure.
func (f figures) get(proxy, figure string) float64 { return f[proxy][figure].median() }

// Figures, each with its unit.
const (
	figureP50       = "p50 at 1,000/s, µs"
	figureCPU       = "CPU per call at 1,000/s, µs"
	figureRested    = "a call after 2.5 s of rest, ms"
	figureRate      = "calls/s, 64 at once"
	figureBody      = "CPU per 100 KB call, µs"
	figureImage     = "CPU per 10 MiB base64 call, ms"
	figureDelay     = "chunk delay p50, µs"
	figureChunk     = "CPU per chunk, µs"
	figureIdle      = "RSS idle, MB"
	figurePerStream = "RSS per slow stream, KB"
	figureStart     = "start to first answer, ms"
	figureSecureP50 = "TLS and HTTP/2 upstream, p50 at 500/s, µs"
	figureSecureCPU = "TLS and HTTP/2 upstream, CPU per call, µs"
	figureSlow      = "1,000 slow streams, ms of CPU a second"
	figureLoaded    = "RSS after all of this, MB"
)

var figureOrder = []string{
	figureP50, figureCPU, figureRested, figureRate, figureSecureP50, figureSecureCPU, figureBody, figureImage, figureDelay, figureChunk,
	figureSlow, figurePerStream, figureIdle, figureLoaded, figureStart,
}

// direct is the name under which calls without any proxy are filed.
const direct = "direct"

// table prints every figure of every proxy.
func (f figures) table(w io.Writer, proxies []string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(tw, "\t%s\t\n", strings.Join(proxies, "\t"))
	for _, figure := range figureOrder {
		cells, found := []string{figure}, false
		for _, p := range proxies {
			if s := f[p][figure]; len(s) > 0 {
				cells, found = append(cells, fmt.Sprintf("%.4g", s.median())), true
			} else {
				cells = append(cells, "-")
			}
		}
		if found {
			_, _ = fmt.Fprintf(tw, "%s\t\n", strings.Join(cells, "\t"))
		}
	}
	return tw.Flush()
}

// bar is what a figure must be, and should be.
type bar struct {
	name      string
	value     float64
	must, aim float64
	atLeast   bool // larger is better
	unit      string
	missing   bool
}

func (b bar) met(limit float64) bool {
	if b.atLeast {
		return b.value >= limit
	}
	return b.value <= limit
}

func (b bar) verdict() string {
	switch {
	case b.missing:
		return "not measured"
	case b.met(b.aim):
		return "aim met"
	case b.met(b.must):
		return "must met"
	default:
		return "MISSED"
	}
}

// printBars prints each bar and how many are missed.
func printBars(w io.Writer, bars []bar) (missed int, err error) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "gateway\tmeasured\tmust\taim\t")
	for _, b := range bars {
		sign := "≤"
		if b.atLeast {
			sign = "≥"
		}
		if b.verdict() == "MISSED" {
			missed++
		}
		_, _ = fmt.Fprintf(tw, "%s\t%.3g%s\t%s %.3g\t%s %.3g\t%s\n", b.name, b.value, b.unit, sign, b.must, sign, b.aim, b.verdict())
	}
	return missed, tw.Flush()
}

// ratioBar compares the gateway with rp.
func (f figures) ratioBar(name, figure string, must, aim float64, atLeast bool) bar {
	rp := f.get(modeProxy, figure)
	b := bar{name: name, must: must, aim: aim, atLeast: atLeast, unit: "×", missing: rp <= 0}
	if !b.missing {
		b.value = f.get("gateway", figure) / rp
	}
	return b
}

// bars are what the gateway is held to.
func (f figures) bars(binaryMB float64) []bar {
	added := func(proxy string) float64 { return f.get(proxy, figureP50) - f.get(direct, figureP50) }
	p50 := bar{name: "added p50 at 1,000/s, to rp's", must: 1.3, aim: 1, unit: "×", missing: added(modeProxy) <= 0}
	if !p50.missing {
		p50.value = added("gateway") / added(modeProxy)
	}
	image := bar{
		name: "10 MiB body with base64, CPU more than rp", must: 5, aim: 0.1 * f.get(modeProxy, figureImage), unit: " ms",
		value:   f.get("gateway", figureImage) - f.get(modeProxy, figureImage),
		missing: len(f["gateway"][figureImage]) == 0,
	}
	absolute := func(name, figure string, must, aim float64, unit string) bar {
		return bar{
			name: name, must: must, aim: aim, unit: unit, value: f.get("gateway", figure),
			missing: len(f["gateway"][figure]) == 0,
		}
	}
	return []bar{
		f.ratioBar("CPU per 1 KB call at 1,000/s", figureCPU, 1.4, 1, false), p50,
		f.ratioBar("calls/s on one core, 64 at once", figureRate, 0.75, 1, true),
		f.ratioBar("CPU per 1 KB call, TLS and HTTP/2 upstream", figureSecureCPU, 1.4, 1, false),
		f.ratioBar("p50, TLS and HTTP/2 upstream", figureSecureP50, 1.3, 1, false),
		f.ratioBar("CPU per 100 KB call", figureBody, 1.3, 1.1, false), image,
		f.ratioBar("chunk delay p50", figureDelay, 1.2, 1, false),
		f.ratioBar("CPU per chunk", figureChunk, 1.3, 1, false),
		f.ratioBar("CPU of 1,000 slow streams", figureSlow, 1.3, 1, false),
		absolute("RSS idle", figureIdle, 20, 12, " MB"),
		absolute("RSS per slow stream", figurePerStream, 60, 30, " KB"),
		absolute("start to first proxied answer", figureStart, 100, 50, " ms"),
		{name: "stripped binary", value: binaryMB, must: 20, aim: 12, unit: " MB", missing: binaryMB == 0},
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
