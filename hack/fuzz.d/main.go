// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fuzz.d is what hack/fuzz runs.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/headgate-dev/headgate/test/fuzzing"
)

// seedVariable is the one of all random tests.
const seedVariable = "HEADGATE_SEED"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	clean, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !clean {
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (clean bool, err error) {
	c := &fuzzing.Campaign{Root: ".", Each: 10 * time.Second, Jobs: runtime.NumCPU(), Workers: 1, KeepGoing: os.Getenv("KEEP_GOING") != "", Out: os.Stdout}
	switch {
	case len(args) > 0 && args[0] == "ci":
		// Thirty seconds of the clock for each, and not of a processor: see docs/design/testing.md.
		c.Each, c.Jobs, c.KeepGoing, c.Own = 30*time.Second, max(6, runtime.NumCPU()), true, true
		if c.Seed, err = first(os.Getenv(seedVariable)); err != nil {
			return false, err
		}
	case len(args) > 0:
		if c.Each, err = time.ParseDuration(args[0]); err != nil || c.Each <= 0 {
			return false, fmt.Errorf("usage: hack/fuzz [ci|TIME] [DIR...]: %q is no time", args[0])
		}
	}
	if c.Jobs, err = positive("FUZZ_JOBS", c.Jobs); err != nil {
		return false, err
	}
	if c.Workers, err = positive("FUZZ_PARALLEL", c.Workers); err != nil {
		return false, err
	}
	var done func()
	if c.Corpus, done, err = corpus(ctx, c.Seed != 0); err != nil {
		return false, err
	}
	defer done()
	if c.Targets, err = fuzzing.Find(c.Root, args[min(1, len(args)):]...); err != nil {
		return false, err
	}
	if len(c.Targets) == 0 {
		return false, errors.New("there is no fuzz target")
	}
	return c.Run(ctx)
}

// positive is a number of the environment, or the given one.
func positive(name string, otherwise int) (int, error) {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(name), strconv.Itoa(otherwise)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q, and must be a number above 0", name, os.Getenv(name))
	}
	return n, nil
}

// first is where mutations begin in CI: at the same as in every run, so that a change is refused for what it does; elsewhere
// each time is for fuzz-long.
func first(number string) (int, error) {
	if number == "random" {
		return 0, nil
	}
	n, err := strconv.Atoi(cmp.Or(number, "1"))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s is %q, and must be a number above 0, or random", seedVariable, number)
	}
	return n, nil
}

// corpus is where interesting inputs are kept between runs, as an absolute path: each target runs in its own folder. A run that
// is like all others begins with none.
func corpus(ctx context.Context, alike bool) (dir string, done func(), err error) {
	kept := func() {}
	if dir := os.Getenv("HEADGATE_FUZZ_CORPUS"); dir != "" {
		dir, err = filepath.Abs(filepath.Join(dir, "headgate"))
		return dir, kept, err
	}
	if alike {
		dir, err = os.MkdirTemp("", "corpus")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return "", kept, fmt.Errorf("go env GOCACHE: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(cache)), "fuzz", "headgate"), kept, nil
}
