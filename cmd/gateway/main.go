// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// version is set by the build.
var version = "dev"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == sidecar.SubcommandDeferred {
		return deferredCommand(context.Background(), args[1:], stdout, stderr)
	}
	probing := len(args) > 0 && args[0] == sidecar.SubcommandProbe
	if probing {
		args = args[1:]
	}
	var o options
	fs := flag.NewFlagSet("gateway", flag.ContinueOnError)
	fs.SetOutput(stderr)
	o.addFlags(fs)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if o.version {
		_, _ = fmt.Fprintln(stdout, "gateway", version)
		return 0
	}
	if probing {
		return exitCode(probe(context.Background(), o.listen), stderr)
	}
	if fs.NArg() > 0 {
		// What stands behind it would be taken for no flag, in silence. It may be a password in the wrong place.
		return exitCode(errWords, stderr)
	}
	if err := o.validate(); err != nil {
		return exitCode(err, stderr)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	log := newLog(stderr, o.logLevel)
	logs.Library(log)
	return exitCode(serve(ctx, &o, log), stderr)
}

func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintln(stderr, "gateway:", err)
	return 1
}

var errWords = errors.New("there is a word that is no flag's: each value follows its flag, and nothing stands alone")

func newLog(w io.Writer, word string) *slog.Logger {
	l, _ := logs.Level(word) // which validate has looked at
	return slog.New(logs.Handler(w, l))
}
