// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/test/demo/load"
)

// options are the flags of run.
type options struct {
	name          string
	provider      string
	seconds       int64
	drainSeconds  int64
	startPercent  float64
	budget        string
	openAIPercent int64
	streamPercent int64
	outputTokens  int64
	out           string
	appFlags      list
	apps          []appTarget
}

// appTarget is one app and its part of the load.
type appTarget struct {
	role           string
	url            string
	callsPerMinute int64
	inputTokens    int64
}

type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

func newOptions() *options {
	return &options{seconds: 60, drainSeconds: 90, startPercent: -1, budget: "InputTokens", outputTokens: 16}
}

// AddFlags declares the flags.
func (o *options) AddFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.name, "name", "", "what the phase is called")
	fs.StringVar(&o.provider, "provider", "", "base URL of the simulated provider, as http://10.0.0.9:8080")
	fs.Int64Var(&o.seconds, "seconds", o.seconds, "how long calls are started")
	fs.Int64Var(&o.drainSeconds, "drain", o.drainSeconds, "how many seconds calls in flight may still take after that")
	fs.Float64Var(&o.startPercent, "start-percent", o.startPercent,
		"set the account's level to this percent of its burst first, so that phases start alike; negative: leave it")
	fs.StringVar(&o.budget, "budget", o.budget, "the budget whose use is shown, and whose level is set")
	fs.Int64Var(&o.openAIPercent, "openai-percent", 0, "percent of the support calls that go through the OpenAI SDK")
	fs.Int64Var(&o.streamPercent, "stream-percent", 0, "percent of the calls that are streamed")
	fs.Int64Var(&o.outputTokens, "output-tokens", o.outputTokens, "the most output of a call")
	fs.StringVar(&o.out, "out", "", "file for the phase's figures, read by table")
	fs.Var(&o.appFlags, "app", "ROLE,calls=PER_MINUTE,tokens=INPUT=URL of one app; repeatable")
}

// Complete reads what the flags say of apps.
func (o *options) Complete() error {
	for _, s := range o.appFlags {
		a, err := parseApp(s)
		if err != nil {
			return err
		}
		o.apps = append(o.apps, a)
	}
	return nil
}

// Validate refuses what cannot be run.
func (o *options) Validate() error {
	switch {
	case o.name == "":
		return errors.New("--name is missing")
	case o.provider == "":
		return errors.New("--provider is missing")
	case len(o.apps) == 0:
		return errors.New("no --app")
	case o.startPercent > 100:
		return errors.New("--start-percent is above 100")
	}
	for _, a := range o.apps {
		if err := o.run(a, time.Time{}).Validate(); err != nil {
			return err
		}
	}
	return nil
}

// run is the load of one app.
func (o *options) run(a appTarget, start time.Time) load.Run {
	r := load.Run{
		Name: o.name, StartUnixMillis: start.UnixMilli(), Seconds: o.seconds, DrainSeconds: o.drainSeconds,
		CallsPerMinute: a.callsPerMinute, InputTokens: a.inputTokens, OutputTokens: o.outputTokens,
		StreamPercent: o.streamPercent,
	}
	if a.role == roleSupport {
		r.OpenAIPercent = o.openAIPercent
	}
	return r.Complete()
}

// roleSupport is the app whose calls may go to both providers.
const roleSupport = "support"

// parseApp reads ROLE,calls=N,tokens=N=URL.
func parseApp(s string) (appTarget, error) {
	fail := func() (appTarget, error) {
		return appTarget{}, fmt.Errorf("--app %q: want ROLE,calls=PER_MINUTE,tokens=INPUT=URL", s)
	}
	scheme := strings.Index(s, "=http")
	if scheme < 0 {
		return fail()
	}
	fields := strings.Split(s[:scheme], ",")
	a := appTarget{role: fields[0], url: strings.TrimSuffix(s[scheme+1:], "/")}
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
			return fail()
		case name == "calls":
			a.callsPerMinute = n
		case name == "tokens":
			a.inputTokens = n
		default:
			return fail()
		}
	}
	if a.role == "" || a.callsPerMinute <= 0 || a.inputTokens <= 0 {
		return fail()
	}
	return a, nil
}
