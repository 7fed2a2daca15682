// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/manager"
)

// version is set when images are built.
var version = "dev"

func main() {
	err := run(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var opts manager.Options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	opts.AddFlags(flags)
	// Importing controller-runtime has put its own there.
	if f := flag.Lookup("kubeconfig"); f != nil {
		flags.Var(f.Value, f.Name, f.Usage)
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		// Flags behind it would not be read, in silence; and it may be a password in the wrong place.
		return errors.New("there is a word that is no flag's: write --flag=value")
	}
	if err := errors.Join(opts.Complete(os.Getenv), opts.Validate()); err != nil {
		return err
	}
	log := opts.Logger(os.Stderr)
	slog.SetDefault(log)
	logs.Library(log) // after it, since it has the same lines written
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	log.Info("starting", "version", version)
	return manager.Run(ctrl.SetupSignalHandler(), config, &opts, log)
}
