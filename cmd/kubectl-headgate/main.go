// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/headgate-dev/headgate/internal/explain"
)

// version is set by the build.
var version = "dev"

// The exit statuses.
const (
	exitOK      = 0
	exitInvalid = 1
	exitUsage   = 2
)

func main() {
	c := command{in: os.Stdin, out: os.Stdout, errors: os.Stderr, now: time.Now}
	os.Exit(c.run(os.Args[1:]))
}

// command is one run.
type command struct {
	in          io.Reader
	out, errors io.Writer
	now         func() time.Time
}

// usageError is a command line that makes no sense.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// run returns the exit status.
func (c *command) run(args []string) int {
	err := c.dispatch(args)
	var usage usageError
	var input inputError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &usage):
		_, _ = fmt.Fprintf(c.errors, "kubectl-headgate: %s\nTry kubectl headgate --help.\n", usage.text)
		return exitUsage
	case errors.As(err, &input):
		_, _ = fmt.Fprintln(c.errors, "kubectl-headgate:", err)
		return exitUsage
	case errors.Is(err, errExpectation):
		return exitInvalid // said already
	case errors.Is(err, explain.ErrInvalid):
		return exitInvalid // said already, where the policy stands
	}
	_, _ = fmt.Fprintln(c.errors, "kubectl-headgate:", err)
	return exitInvalid
}

func (c *command) dispatch(args []string) error {
	if len(args) == 0 {
		_, _ = io.WriteString(c.errors, help)
		return usagef("give a command")
	}
	switch name, rest := args[0], args[1:]; name {
	case "explain":
		if len(rest) > 0 && rest[0] == "policy" {
			return c.explainPolicy(rest[1:])
		}
		return c.explain(rest)
	case "simulate":
		return c.simulate(rest)
	case "version", "--version":
		_, err := fmt.Fprintln(c.out, "kubectl-headgate", version)
		return err
	case "help", "--help", "-h", "-help":
		return c.help(rest)
	default:
		return usagef("unknown command %q", name)
	}
}

func (c *command) help(topics []string) error {
	text := help
	switch {
	case len(topics) == 0:
	case topics[0] == "explain" && len(topics) > 1 && topics[1] == "policy":
		text = helpPolicy
	case topics[0] == "explain":
		text = helpExplain()
	case topics[0] == "simulate":
		text = helpSimulate
	default:
		return usagef("no help on %q", topics[0])
	}
	_, err := io.WriteString(c.out, text)
	return err
}

// parse reads flags; those that follow an argument count too.
func (c *command) parse(fs *flag.FlagSet, text string, args []string) (rest []string, err error) {
	fs.SetOutput(io.Discard)
	for {
		err = fs.Parse(args)
		switch {
		case errors.Is(err, flag.ErrHelp):
			_, _ = io.WriteString(c.out, text)
			return nil, err
		case err != nil:
			return nil, usageError{err.Error()}
		case fs.NArg() == 0:
			return rest, nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}
