// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate"
	"github.com/headgate-dev/headgate/internal/simulate/html"
	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/text"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// errExpectation says that something which was expected did not come about.
var errExpectation = errors.New("an expectation was not met")

// writers are the formats of a simulation's result.
var writers = map[string]func(io.Writer, *result.Result) error{
	"text": text.Write,
	"html": html.Write,
	"json": func(w io.Writer, r *result.Result) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	},
}

// simulateOptions are the flags of simulate.
type simulateOptions struct {
	policy, workload, output string
	seed                     uint64
}

func (o *simulateOptions) addFlags(fs *flag.FlagSet) {
	for _, name := range [...]string{"policy", "p"} {
		fs.StringVar(&o.policy, name, "", "")
	}
	for _, name := range [...]string{"workload", "w"} {
		fs.StringVar(&o.workload, name, "", "")
	}
	for _, name := range [...]string{"output", "o"} {
		fs.StringVar(&o.output, name, "text", "")
	}
	fs.Uint64Var(&o.seed, "seed", 1, "")
}

func (o *simulateOptions) validate(rest []string) error {
	switch {
	case len(rest) > 0:
		return usagef("simulate: unknown argument %q", rest[0])
	case o.policy == "":
		return usagef("simulate: --policy is required")
	case o.workload == "":
		return usagef("simulate: --workload is required")
	case o.policy == "-" && o.workload == "-":
		return usagef("simulate: only one of the files can be standard input")
	case writers[o.output] == nil:
		return usagef("--output %q: want text, json or html", o.output)
	}
	return nil
}

// simulate plays a workload under a policy.
func (c *command) simulate(args []string) error {
	var o simulateOptions
	fs := flag.NewFlagSet("simulate", flag.ContinueOnError)
	o.addFlags(fs)
	rest, err := c.parse(fs, helpSimulate, args)
	if err != nil {
		return err
	}
	if err := o.validate(rest); err != nil {
		return err
	}
	in := simulate.Input{Seed: o.seed}
	if in.Policy, err = c.content(o.policy); err != nil {
		return inputError{err}
	}
	if in.Workload, err = c.content(o.workload); err != nil {
		return inputError{err}
	}
	r, err := simulate.Run(in)
	switch {
	case errors.Is(err, simulate.ErrInvalid), errors.Is(err, workload.ErrInvalid):
		return inputError{err}
	case err != nil:
		return err
	}
	if r.Workload == "" {
		r.Workload = strings.TrimSuffix(filepath.Base(o.workload), filepath.Ext(o.workload))
	}
	if err := writers[o.output](c.out, r); err != nil {
		return err
	}
	return c.expected(r)
}

// expected says what was not as expected where the output may not be read by anybody.
func (c *command) expected(r *result.Result) error {
	if r.Passed() {
		return nil
	}
	for _, e := range r.Expect {
		if !e.OK {
			_, _ = fmt.Fprintf(c.errors, "kubectl-headgate: expected %s, got %v\n", e.What, e.Got)
		}
	}
	return errExpectation
}

// content reads a file, or standard input.
func (c *command) content(name string) ([]byte, error) {
	in := c.in
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user names the file to read
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, workload.MaxBytes+1))
	return slices.Clip(content), err
}

// inputError is a file that cannot be used. Its status is that of wrong arguments, so that 1 is left to expectations.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }
