// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if err := signalled(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

// signalled runs the command until a signal.
func signalled() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return command(ctx, os.Args[1:])
}

func command(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want run or table")
	}
	switch args[0] {
	case "run":
		o := newOptions()
		fs := flag.NewFlagSet("run", flag.ContinueOnError)
		o.AddFlags(fs)
		if err := fs.Parse(args[1:]); err != nil {
			return err
		}
		if err := errors.Join(o.Complete(), o.Validate()); err != nil {
			return err
		}
		return runPhase(ctx, o)
	case "table":
		return printTable(os.Stdout, args[1:])
	}
	return fmt.Errorf("unknown command %q: want run or table", args[0])
}
