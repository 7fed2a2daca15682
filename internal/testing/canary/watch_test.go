// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// tests stand for those of a package, which do something and pass.
type tests func()

func (f tests) Run() int { f(); return 0 }

// TestARunThatLeaksFails: wherever it leaks, and however it is written.
func TestARunThatLeaksFails(t *testing.T) {
	key := Key("of-the-app")
	log := func(text ...string) func(*Watch) tests {
		return func(w *Watch) tests {
			l := w.Log("the log")
			return func() {
				for _, part := range text {
					_, _ = l.Write([]byte(part))
				}
			}
		}
	}
	place := func(text string, err error) func(*Watch) tests {
		return func(w *Watch) tests {
			w.At("the metrics", func() (string, error) { return text, err })
			return func() {}
		}
	}
	for name, tc := range map[string]struct {
		run  func(*Watch) tests
		want string
	}{
		"a clean log":       {log("call of anthropic ended, key sk-…"), ""},
		"a log":             {log("call with " + key), "the log shows"},
		"a log in parts":    {log("call with "+key[:8], key[8:]), "the log shows"},
		"a log of a prompt": {log(Prompt("hello")), "the log shows"},
		"a log in base64":   {log("Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+key))), "the log shows"},
		"a token":           {log("Bearer eyJhbGciOiJSUzI1NiJ9.e30.x"), "the log shows"},
		"a private key":     {log("-----BEGIN EC PRIVATE KEY-----\n"), "the log shows"},
		"a log in slog": {func(w *Watch) tests {
			l := slog.New(slog.NewJSONHandler(w.Log("the log"), nil))
			return func() { l.Info("call", "error", errors.New("refused: "+key)) }
		}, "the log shows"},
		"a kept prompt": {func(w *Watch) tests {
			l := w.Kept("the log")
			return func() { _, _ = l.Write([]byte(Prompt("hello"))) }
		}, ""},
		"a kept key": {func(w *Watch) tests {
			l := w.Kept("the log")
			return func() { _, _ = l.Write([]byte(Key("of-the-app"))) }
		}, "the log shows"},
		"a clean place":    {place("calls 1", nil), ""},
		"a place":          {place(`calls{key="`+key+`"} 1`, nil), "the metrics shows"},
		"a place in doubt": {place("", errors.New("refused")), "cannot be read"},
		"a look":           {func(w *Watch) tests { return func() { w.Look("the page", key) } }, "the page shows"},
		"a silent log":     {log(), "nothing was written to the log"},
		"an empty place":   {place("", nil), "the metrics is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			var w Watch
			f := tc.run(&w)
			silent := strings.HasPrefix(tc.want, "nothing was") || strings.HasSuffix(tc.want, "empty")
			if code := w.Over(f).Run(); !silent && (code != 0) != (tc.want != "") {
				t.Errorf("exit code %d", code)
			}
			if got := strings.Join(w.Leaks(true), "\n"); !strings.Contains(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

// TestOneLeakIsSaidOnce, and a thousand are not all said.
func TestOneLeakIsSaidOnce(t *testing.T) {
	var w Watch
	l := w.Log("the log")
	for range 1000 {
		_, _ = l.Write([]byte(Key("of-the-app") + "\n"))
	}
	if got := w.Leaks(false); len(got) != 1 {
		t.Errorf("%d are told, the last %q", len(got), got[len(got)-1])
	}
	for i := range 1000 {
		w.Look(strings.Repeat("x", i), Key("other"))
	}
	if got := w.Leaks(false); len(got) > maxLeaks {
		t.Errorf("%d are told", len(got))
	}
}
