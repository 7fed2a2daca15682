// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// options are the command's flags.
type options struct {
	gateway, coordinator string
	fakeprovider, app    string
	rounds               int
	seconds              time.Duration
	overload             time.Duration
	within               time.Duration
	only                 string
	strict               bool
}

const (
	// modeProxy is how this binary starts itself as rp.
	modeProxy = "rp"
	// envPinned says that this process has its core already.
	envPinned = "HEADGATE_BENCH_PINNED"
)

func main() {
	if err := signalled(); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
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
	if len(args) > 0 && args[0] == modeProxy {
		return reverseProxy(args[1:])
	}
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&o.gateway, "gateway", "bin/bench/gateway", "the gateway's binary, stripped")
	fs.StringVar(&o.coordinator, "coordinator", "bin/bench/coordinator", "the binary of test/bench/coordinator")
	fs.StringVar(&o.fakeprovider, "fakeprovider", "bin/bench/fakeprovider", "the simulated provider's binary, for the overload part")
	fs.StringVar(&o.app, "app", "bin/bench/app", "the demo app's binary, the client of the overload part")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds of each measurement; medians are shown")
	fs.DurationVar(&o.seconds, "time", 1500*time.Millisecond, "length of each measurement")
	fs.DurationVar(&o.overload, "overload", 90*time.Second, "length of the overload part; 0 leaves it out")
	fs.DurationVar(&o.within, "within", 6*time.Minute, "fail where the whole takes longer")
	fs.StringVar(&o.only, "only", "", "run only these parts: calls, secure, bodies, streams, process, overload; comma-separated")
	fs.BoolVar(&o.strict, "strict", false, "fail where a must is not met")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if err := pin(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.within, fmt.Errorf("not done within %s", o.within))
	defer cancel()
	if err := measureAll(ctx, &o); err != nil {
		return errors.Join(err, context.Cause(ctx))
	}
	return nil
}

// runs says whether a part is to run.
func (o *options) runs(part string) bool {
	return o.only == "" || strings.Contains(","+o.only+",", ","+part+",")
}

// pin starts this process again on the last core, so that the first is the proxy's alone.
func pin() error {
	taskset, _ := exec.LookPath("taskset") // empty where there is none
	if taskset == "" || runtime.NumCPU() < 2 || os.Getenv(envPinned) != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := append([]string{taskset, "-c", fmt.Sprint(runtime.NumCPU() - 1), self}, os.Args[1:]...)
	return syscall.Exec(taskset, args, append(os.Environ(), envPinned+"=1"))
}
