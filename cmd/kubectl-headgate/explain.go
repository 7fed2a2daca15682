// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/guidance"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
)

// explainOptions are the flags of explain.
type explainOptions struct {
	dialect, receivedAt, output string
}

func (o *explainOptions) addFlags(fs *flag.FlagSet) {
	for _, name := range [...]string{"dialect", "d"} {
		fs.StringVar(&o.dialect, name, "", "")
	}
	for _, name := range [...]string{"received-at", "r"} {
		fs.StringVar(&o.receivedAt, name, "", "")
	}
	for _, name := range [...]string{"output", "o"} {
		fs.StringVar(&o.output, name, "text", "")
	}
}

func (c *command) explain(args []string) error {
	var o explainOptions
	fs := flag.NewFlagSet("explain", flag.ContinueOnError)
	o.addFlags(fs)
	rest, err := c.parse(fs, helpExplain(), args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("unknown argument %q: the response is read from standard input", rest[0])
	}
	d, received, err := o.complete(c.now())
	if err != nil {
		return err
	}
	resp, err := explain.ReadResponse(c.in, received)
	if err != nil {
		return err
	}
	if o.receivedAt == "" {
		resp.Received = guidance.Reference(resp.Header, received) // a paste may be read hours later
	}
	if o.output == "json" {
		return json.NewEncoder(c.out).Encode(explain.Read(d, resp).Expectation())
	}
	return explain.Text(c.out, d, resp)
}

func (o *explainOptions) complete(now time.Time) (dialect.Dialect, time.Time, error) {
	if o.output != "text" && o.output != "json" {
		return nil, now, usagef("--output %q: want text or json", o.output)
	}
	if o.receivedAt != "" {
		at, err := time.Parse(time.RFC3339Nano, o.receivedAt)
		if err != nil {
			return nil, now, usagef("--received-at %q: want a time such as 2026-06-15T12:00:00Z", o.receivedAt)
		}
		now = at
	}
	d, err := dialectOf(o.dialect)
	return d, now, err
}

// dialectOf finds the dialect that a person means.
func dialectOf(name string) (dialect.Dialect, error) {
	if name == "" {
		return nil, usagef("--dialect is required: whose response is it? One of %s", dialectNames())
	}
	f, ok := facts.Find(strings.TrimSpace(name))
	if !ok {
		return nil, usagef("--dialect %q is unknown: want one of %s", name, dialectNames())
	}
	d := registry.ByName(f.Name)
	if d == nil {
		return nil, fmt.Errorf("dialect %s is not built in", f.Name)
	}
	return d, nil
}

func dialectNames() string {
	var names []string
	for _, f := range facts.All() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
