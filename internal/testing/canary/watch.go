// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// Watch searches everything that the system writes while the tests of a package run, and fails the run if a mark is found.
// The zero Watch is ready; make it a variable of the package, hand out its logs, and end TestMain with Run.
type Watch struct {
	mu     sync.Mutex
	logs   []*Log
	places []place
	leaks  []string
}

// place is what is read once, when the tests are over.
type place struct {
	name string
	read func() (string, error)
}

// maxLeaks are reported: one leak shows again and again.
const maxLeaks = 20

// Log is a place that is written to. It keeps nothing but the end of what came last, since a mark may be written in parts.
type Log struct {
	watch *Watch
	name  string
	find  func(text string) string

	mu      sync.Mutex
	tail    []byte
	written int
}

// Log returns where something is to be logged.
func (w *Watch) Log(name string) *Log {
	return w.log(name, Secrets)
}

// Kept returns where something is to be logged that holds prompts as it should: only keys are searched for.
func (w *Watch) Kept(name string) *Log { return w.log(name, Keys) }

func (w *Watch) log(name string, find func(string) string) *Log {
	l := &Log{watch: w, name: name, find: find}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.logs = append(w.logs, l)
	return l
}

// Tee returns a writer to out that is searched as well.
func (l *Log) Tee(out io.Writer) io.Writer { return io.MultiWriter(out, l) }

// Write searches what is written.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written += len(p)
	text := string(l.tail) + string(p)
	if at := l.find(text); at != "" {
		l.watch.found(l.name, at)
		text = "" // said once
	}
	l.tail = append(l.tail[:0], text[max(0, len(text)-longest):]...)
	return len(p), nil
}

// At adds a place that is read when the tests are over.
func (w *Watch) At(name string, read func() (string, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.places = append(w.places, place{name, read})
}

// Look searches a text at once.
func (w *Watch) Look(name, text string) {
	if at := Secrets(text); at != "" {
		w.found(name, at)
	}
}

func (w *Watch) found(name, at string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if leak := fmt.Sprintf("%s shows a key or a prompt: …%q…", name, at); len(w.leaks) < maxLeaks && !slices.Contains(w.leaks, leak) {
		w.leaks = append(w.leaks, leak)
	}
}

// Leaks reads the places and says what was found so far, or could not be read. Of a whole run it also complains of a log
// in which nothing was ever written, and of an empty place: a search that sees nothing would let every leak pass.
func (w *Watch) Leaks(whole bool) []string {
	w.mu.Lock()
	logs, places := slices.Clone(w.logs), slices.Clone(w.places)
	w.mu.Unlock()
	var problems []string
	for _, p := range places {
		text, err := p.read()
		switch {
		case err != nil:
			problems = append(problems, fmt.Sprintf("%s cannot be read: %v", p.name, err))
		case whole && text == "":
			problems = append(problems, p.name+" is empty: is the search still where it was?")
		}
		w.Look(p.name, text)
	}
	for _, l := range logs {
		l.mu.Lock()
		if whole && l.written == 0 {
			problems = append(problems, "nothing was written to "+l.name+": is the search still where it was?")
		}
		l.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(slices.Clone(w.leaks), problems...)
}

// Over are the tests with the search, for who wants to run them himself: leaks.VerifyTestMain(w.Over(m)).
func (w *Watch) Over(m interface{ Run() int }) interface{ Run() int } { return over{w, m} }

type over struct {
	watch *Watch
	tests interface{ Run() int }
}

func (o over) Run() int { return o.watch.Run(o.tests) }

// Run runs the tests and returns the code to exit with: not 0 if they failed or anything leaked.
func (w *Watch) Run(m interface{ Run() int }) int {
	code := m.Run()
	for _, leak := range w.Leaks(wholeRun()) {
		fmt.Fprintln(os.Stderr, leak)
		code = max(code, 1)
	}
	return code
}

// wholeRun says whether all tests of the package were to be run.
func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.bench"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
