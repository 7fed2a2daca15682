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
	"time"
)

// options are the command's flags.
type options struct {
	gateway, fakeprovider string
	duration              time.Duration
	seed                  uint64
	keep                  string
}

func (o *options) addFlags(fs *flag.FlagSet) {
	fs.DurationVar(&o.duration, "duration", 30*time.Minute, "how long the load lasts")
	fs.StringVar(&o.gateway, "gateway", "bin/soak/gateway", "the gateway's binary")
	fs.StringVar(&o.fakeprovider, "fakeprovider", "bin/soak/fakeprovider", "the simulated provider's binary")
	fs.Uint64Var(&o.seed, "seed", 1, "of the load's chances")
	fs.StringVar(&o.keep, "keep", "", "directory for the logs and the arrivals; a temporary one that is removed if empty")
}

// shortest is the shortest run in which every fault, kill and restart has its turn.
const shortest = 60 * time.Second

func (o *options) validate() error {
	if o.duration < shortest {
		return fmt.Errorf("--duration %s is shorter than %s, in which not everything has its turn", o.duration, shortest)
	}
	return nil
}

func main() {
	if err := signalled(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "soak:", err)
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
	var o options
	fs := flag.NewFlagSet("soak", flag.ContinueOnError)
	o.addFlags(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	return run(ctx, &o)
}
