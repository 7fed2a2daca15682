// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package anthropic

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
)

// Subscription accounts have windows with a status instead of an amount: of five hours, of seven days, some of seven
// days for a part of the models alone, and what may be bought beyond them.
const (
	unifiedPrefix  = "Anthropic-Ratelimit-Unified-"
	unifiedStatus  = unifiedPrefix + "Status"
	unifiedReset   = unifiedPrefix + "Reset"
	unifiedClaim   = unifiedPrefix + "Representative-Claim"
	overageReason  = unifiedPrefix + "Overage-Disabled-Reason"
	overage        = "Overage"
	rejected       = "rejected"
	maxUnified     = 8
	representative = "representative"
)

// unified is the table for a response of a subscription account; other accounts have none of its headers.
func unified(h http.Header) []guidance.Triple {
	if len(h[unifiedStatus]) == 0 {
		return nil
	}
	var table []guidance.Triple
	refused := false
	for _, name := range windows(h) {
		exhausted := h.Get(unifiedPrefix+name+"-Status") == rejected
		refused = refused || exhausted
		table = append(table, guidance.Triple{
			Bucket: strings.ToLower(name), Reset: unifiedPrefix + name + "-Reset", Window: windowOf(name), Exhausted: exhausted,
		})
	}
	if h.Get(unifiedStatus) == rejected && !refused {
		// What refused has no headers of its own: the claim names it and the reset is its.
		claim := h.Get(unifiedClaim)
		table = append(table, guidance.Triple{
			Bucket: representative, Reset: unifiedReset, Window: claimed(claim), Exhausted: true,
		})
	}
	return table
}

// windows are the names of the windows that a response has headers of, in a fixed order. Buying more is none where it
// is switched off: it is then called rejected all the time.
func windows(h http.Header) []string {
	var names []string
	for header := range h {
		name, ok := strings.CutPrefix(header, unifiedPrefix)
		if !ok {
			continue
		}
		window, status := strings.CutSuffix(name, "-Status")
		if !status {
			window, ok = strings.CutSuffix(name, "-Reset")
		}
		if ok && (window != overage || len(h[overageReason]) == 0) {
			names = append(names, window)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxUnified)]
}

const week = 7 * 24 * time.Hour

func windowOf(name string) time.Duration {
	switch {
	case strings.HasPrefix(name, "5h"):
		return 5 * time.Hour
	case strings.HasPrefix(name, "7d"):
		return week
	}
	return 0
}

func claimed(claim string) time.Duration {
	switch {
	case strings.HasPrefix(claim, "five_hour"):
		return 5 * time.Hour
	case strings.HasPrefix(claim, "seven_day"):
		return week
	}
	return 0
}
