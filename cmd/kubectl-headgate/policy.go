// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/headgate-dev/headgate/internal/explain"
)

// explainPolicy explains every file, also after one that is wrong.
func (c *command) explainPolicy(args []string) error {
	files, err := c.parse(flag.NewFlagSet("explain policy", flag.ContinueOnError), helpPolicy, args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usagef("explain policy: give a file, or - for standard input")
	}
	var worst error
	for i, name := range files {
		if i > 0 {
			_, _ = fmt.Fprintln(c.out)
		}
		err := c.explainFile(name)
		switch {
		case err == nil:
		case errors.Is(err, explain.ErrInvalid):
			worst = err
		default:
			if name == "-" {
				name = "standard input"
			}
			_, _ = fmt.Fprintf(c.errors, "kubectl-headgate: %s: %v\n", name, err)
			worst = explain.ErrInvalid
		}
	}
	return worst
}

func (c *command) explainFile(name string) error {
	in := c.in
	if name != "-" {
		file, err := os.Open(name) //nolint:gosec // the user names the file to read
		if err != nil {
			var path *os.PathError
			if errors.As(err, &path) {
				return path.Err
			}
			return err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, explain.MaxInput+1))
	if err != nil {
		return err
	}
	return explain.Policies(c.out, content)
}
