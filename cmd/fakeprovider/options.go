// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// options are the command's flags and what they mean.
type options struct {
	listen    string
	listenTLS string
	certFile  string
	keyFile   string
	tlsDir    string
	tlsHosts  string

	limits         list
	groups         list
	keys           list
	secrets        list
	dialect        string
	guidance       list
	charges        list
	chargeRejected bool
	startPercent   float64
	faultsFile     string
	faults         []fakeprovider.Fault
	provider       fakeprovider.Options
}

func newOptions() *options { return &options{listen: ":8080", startPercent: 100} }

// list is a flag that may be given more than once.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *list) Set(s string) error {
	*l = append(*l, s)
	return nil
}

// AddFlags declares the flags.
func (o *options) AddFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.listen, "listen", o.listen, "address for HTTP, empty for none")
	fs.StringVar(&o.listenTLS, "listen-tls", "", "address for HTTPS, empty for none")
	fs.StringVar(&o.certFile, "tls-cert", "", "PEM certificate for HTTPS")
	fs.StringVar(&o.keyFile, "tls-key", "", "PEM key for HTTPS")
	fs.StringVar(&o.tlsDir, "tls-dir", "", "make a CA and a certificate, and write the CA to ca.pem in this folder")
	fs.StringVar(&o.tlsHosts, "tls-hosts", "localhost,127.0.0.1,::1", "names and addresses of the certificate made")
	fs.Var(&o.limits, "limit", "DIALECT:BUDGET=AMOUNT/WINDOW[/BURST], as Anthropic:InputTokens=400000/1m; "+
		"the first for a dialect replaces its default limits; repeatable")
	fs.Float64Var(&o.startPercent, "start-percent", o.startPercent, "first level of each bucket, in percent of its burst")
	fs.Var(&o.groups, "group", "PATTERN=NAME: models that share buckets, as claude-*=claude; repeatable")
	fs.Var(&o.keys, "key", "an API key to accept; any is accepted if none is given; repeatable")
	fs.Var(&o.secrets, "aws-secret", "ID=SECRET of an AWS key: signatures are then verified; repeatable")
	fs.StringVar(&o.dialect, "dialect", "", "whose API a path without /_p/NAME before it is; by its look if empty")
	fs.Var(&o.guidance, "guidance", "DIALECT=seconds|millis|both|own|none: what a 429 says; repeatable")
	fs.Var(&o.charges, "charges", "DIALECT=MaxAtAdmission|EstimateThenActual|AsProduced; repeatable")
	fs.BoolVar(&o.chargeRejected, "charge-rejected", false, "refused calls cost as much as admitted ones")
	fs.StringVar(&o.faultsFile, "faults", "", "JSON file with faults to play from the start")
	fs.DurationVar(&o.provider.FirstByte, "first-byte", 0, "time to the first byte of an answer")
	fs.DurationVar(&o.provider.PerToken, "per-token", 0, "time for each token of output")
	fs.Int64Var(&o.provider.OutputTokens, "output-tokens", 16, "output of a call that does not say")
	fs.DurationVar(&o.provider.Skew, "skew", 0, "how far the provider's clock is ahead; negative: behind")
	fs.BoolVar(&o.provider.OmitDate, "omit-date", false, "send no Date header")
	fs.BoolVar(&o.provider.Gzip, "gzip", false, "compress JSON answers for callers that accept it")
	fs.IntVar(&o.provider.MaxArrivals, "max-arrivals", 50_000, "how many arrivals are kept")
}

// Complete turns the flags into the provider's options.
func (o *options) Complete() error {
	profiles := map[fakeprovider.Dialect]*fakeprovider.Profile{}
	for _, d := range fakeprovider.Dialects() {
		p := fakeprovider.DefaultProfile(d)
		p.ChargeRejected = o.chargeRejected
		profiles[d] = &p
	}
	err := errors.Join(o.completeLimits(profiles), o.completeBehaviour(profiles), o.completeGroups(), o.completeDialect(),
		o.completeSecrets(), o.readFaults())
	if err != nil {
		return err
	}
	o.provider.Keys = o.keys
	o.provider.Profiles = map[fakeprovider.Dialect]fakeprovider.Profile{}
	for d, p := range profiles {
		for i := range p.Limits {
			p.Limits[i].StartPercent = &o.startPercent
		}
		o.provider.Profiles[d] = *p
	}
	return nil
}

func (o *options) completeLimits(profiles map[fakeprovider.Dialect]*fakeprovider.Profile) error {
	replaced := map[fakeprovider.Dialect]bool{}
	for _, s := range o.limits {
		d, limit, err := parseLimit(s)
		if err != nil {
			return err
		}
		if !replaced[d] {
			profiles[d].Limits, replaced[d] = nil, true
		}
		profiles[d].Limits = append(profiles[d].Limits, limit)
	}
	return nil
}

func (o *options) completeBehaviour(profiles map[fakeprovider.Dialect]*fakeprovider.Profile) error {
	for _, s := range o.guidance {
		d, v, err := ofDialect(s, "guidance", "seconds", "millis", "both", "own", "none")
		if err != nil {
			return err
		}
		profiles[d].Guidance = fakeprovider.Guidance(v)
	}
	for _, s := range o.charges {
		d, v, err := ofDialect(s, "charges", "MaxAtAdmission", "EstimateThenActual", "AsProduced")
		if err != nil {
			return err
		}
		profiles[d].Charges = fakeprovider.Charges(v)
	}
	return nil
}

func (o *options) completeGroups() error {
	for _, s := range o.groups {
		pattern, name, ok := strings.Cut(s, "=")
		if !ok || pattern == "" || name == "" {
			return fmt.Errorf("--group %q: want PATTERN=NAME", s)
		}
		o.provider.ModelGroups = append(o.provider.ModelGroups, fakeprovider.ModelGroup{Pattern: pattern, Name: name})
	}
	return nil
}

func (o *options) completeDialect() error {
	if o.dialect == "" {
		return nil
	}
	d, known := dialectNamed(o.dialect)
	if !known {
		return fmt.Errorf("--dialect %q: not a dialect", o.dialect)
	}
	o.provider.Dialect = d
	return nil
}

func (o *options) completeSecrets() error {
	for _, s := range o.secrets {
		id, secret, ok := strings.Cut(s, "=")
		if !ok || id == "" || secret == "" {
			return errors.New("--aws-secret: want ID=SECRET")
		}
		if o.provider.AWSSecrets == nil {
			o.provider.AWSSecrets = map[string]string{}
		}
		o.provider.AWSSecrets[id] = secret
	}
	return nil
}

func (o *options) readFaults() error {
	if o.faultsFile == "" {
		return nil
	}
	raw, err := os.ReadFile(o.faultsFile)
	if err != nil {
		return fmt.Errorf("--faults: %w", err)
	}
	o.faults, err = fakeprovider.ParseFaults(raw)
	return err
}

// Validate refuses flags that do not go together.
func (o *options) Validate() error {
	switch {
	case o.listen == "" && o.listenTLS == "":
		return errors.New("neither --listen nor --listen-tls")
	case (o.certFile == "") != (o.keyFile == ""):
		return errors.New("--tls-cert and --tls-key go together")
	case o.certFile != "" && o.tlsDir != "":
		return errors.New("--tls-cert or --tls-dir, not both")
	case o.listenTLS != "" && o.certFile == "" && o.tlsDir == "":
		return errors.New("--listen-tls needs --tls-cert and --tls-key, or --tls-dir")
	case o.provider.FirstByte < 0 || o.provider.PerToken < 0:
		return errors.New("--first-byte and --per-token cannot be negative")
	case o.startPercent > 100:
		return errors.New("--start-percent cannot be above 100")
	}
	return o.provider.Validate()
}

// defaultWindow is a limit's window if the flag states none.
const defaultWindow = time.Minute
