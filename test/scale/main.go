// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are what is measured.
type settings struct {
	manager    string
	gateways   []int
	namespaces int
	// window is for how long each number is watched, within bounds all of it.
	window, within time.Duration
	// perSecond are each gateway's calls of tokens tokens; the account has what shortage of them leaves.
	perSecond, tokens, shortage float64
}

func main() {
	s, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(2)
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		cancel()
		os.Exit(1) //nolint:gocritic // cancel was called
	}
}

func parse(args []string, said io.Writer) (s settings, err error) {
	fs := flag.NewFlagSet("scale", flag.ContinueOnError)
	fs.SetOutput(said)
	fs.StringVar(&s.manager, "manager", "bin/scale/manager", "the manager's binary")
	numbers := fs.String("gateways", "100,1000,5000", "how many gateways, one number after the other")
	fs.IntVar(&s.namespaces, "namespaces", 5, "in how many namespaces, each with a policy of one account")
	fs.DurationVar(&s.window, "window", 30*time.Second, "for how long each number is watched")
	fs.DurationVar(&s.within, "within", 10*time.Minute, "what does not fit is left out")
	fs.Float64Var(&s.perSecond, "calls", 1, "calls a second of each gateway")
	fs.Float64Var(&s.tokens, "tokens", 500, "input tokens of a call")
	fs.Float64Var(&s.shortage, "offered", 1.2, "what they offer together, of what the account allows")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	for _, n := range strings.Split(*numbers, ",") {
		count, err := strconv.Atoi(strings.TrimSpace(n))
		if err != nil || count < 1 || count > 20_000 {
			return s, fmt.Errorf("--gateways: %q is not a number between 1 and 20000", n)
		}
		s.gateways = append(s.gateways, count)
	}
	if s.namespaces < 1 || s.window < time.Second || s.shortage <= 0 {
		return s, fmt.Errorf("--namespaces %d, --window %v or --offered %v is not usable", s.namespaces, s.window, s.shortage)
	}
	return s, nil
}

// run measures each number of gateways, and writes a row as soon as it has it.
func run(ctx context.Context, s settings, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	c, err := startCluster(ctx, s)
	if err != nil {
		return err
	}
	defer c.stop()
	f := newFleet(c, s)
	defer f.stop()
	fmt.Fprint(out, header())
	for _, n := range s.gateways {
		r, err := measure(ctx, c, f, n)
		if err != nil {
			return fmt.Errorf("%d gateways: %w; the manager said last:\n%s", n, err, c.manager.tail())
		}
		fmt.Fprint(out, r)
	}
	return nil
}
