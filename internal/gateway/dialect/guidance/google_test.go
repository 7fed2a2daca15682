// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"strings"
	"testing"
	"time"
)

// TestA9GoogleDurations: the unit is a part of the value, and an exponent or a sign is none.
func TestA9GoogleDurations(t *testing.T) {
	type result struct {
		wait time.Duration
		ok   bool
	}
	proto := map[string]result{
		"39s": {39 * time.Second, true}, "1.5s": {1500 * time.Millisecond, true}, "45.837906927s": {45837906927, true},
		"0s": {0, true}, "-3s": {0, true}, "51820.638305887s": {51820638305887, true},
		strings.Repeat("9", 400) + "s": {Longest, true},
		"34":                           {}, "": {}, "s": {}, "34 s": {}, "1.s": {}, ".5s": {}, "1e3s": {}, "+3s": {}, "NaNs": {}, "900ms": {}, "1h2m3s": {},
		"1.0123456789s": {}, "34S": {}, "34ss": {},
	}
	for text, want := range proto {
		if wait, ok := ProtoDuration(text); wait != want.wait || ok != want.ok {
			t.Errorf("%.30q: %v %v, want %v %v", text, wait, ok, want.wait, want.ok)
		}
	}
	compound := map[string]result{
		"373.801628ms": {373801628, true}, "10h17m5.723541104s": {37025723541104, true}, "6h2m3s": {21723 * time.Second, true},
		" 5s ": {5 * time.Second, true}, "34": {}, "": {}, "-5s": {}, "5s later": {},
	}
	for text, want := range compound {
		if wait, ok := GoDuration(text); wait != want.wait || ok != want.ok {
			t.Errorf("%q: %v %v, want %v %v", text, wait, ok, want.wait, want.ok)
		}
	}
	moments := map[string]result{
		"2026-06-15T12:00:07Z": {7 * time.Second, true}, "2026-06-15T11:00:00Z": {0, true}, "2026-06-15": {}, "": {}, "7": {},
	}
	for text, want := range moments {
		if wait, ok := Moment(text, noon); wait != want.wait || ok != want.ok {
			t.Errorf("%q: %v %v, want %v %v", text, wait, ok, want.wait, want.ok)
		}
	}
}

// FuzzGoogleDuration: within bounds, nothing from nothing, and never less than what is written.
func FuzzGoogleDuration(f *testing.F) {
	for _, s := range []string{"34.07s", "-1s", "0.000000001s", "900.2ms", "10h17m5.7s", "34", "2026-06-15T12:00:07Z", "99999999999999999999s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for what, read := range map[string]func() (time.Duration, bool){
			"proto":    func() (time.Duration, bool) { return ProtoDuration(s) },
			"compound": func() (time.Duration, bool) { return GoDuration(s) },
			"moment":   func() (time.Duration, bool) { return Moment(s, noon) },
		} {
			wait, ok := read()
			bounded(t, what, wait)
			if !ok && wait != 0 {
				t.Errorf("%s: %v although unreadable", what, wait)
			}
		}
		if wait, ok := ProtoDuration(s); ok && !strings.HasPrefix(s, "-") {
			if other, read := GoDuration(s); !read || other != wait {
				t.Errorf("%q: %v as a protobuf duration, %v %v as a compound one", s, wait, other, read)
			}
		}
	})
}
