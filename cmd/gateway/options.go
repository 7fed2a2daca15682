// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/redisstore"
	"github.com/headgate-dev/headgate/internal/logs"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/sidecar"
)

// options are the command's flags.
type options struct {
	plan, policy, credentials, state, labels string
	token, coordinator, namespace            string
	listen, admin, caFile                    string
	logLevel                                 string
	drain, ping                              time.Duration
	spoolMiB                                 int64
	version                                  bool
	deferredStore, deferredPassword          string
	budgets                                  budgetOptions
	// incarnation numbers this start of the gateway; it is drawn.
	incarnation uint64
}

func (o *options) addFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.plan, sidecar.FlagPlan, "", "directory with the plan, as mounted from the ConfigMap")
	fs.StringVar(&o.policy, sidecar.FlagPolicy, "", "serve this file of RateLimitPolicy objects, without a cluster")
	fs.StringVar(&o.credentials, sidecar.FlagCredentials, "", "directory with provider keys, each with its .hosts file")
	fs.StringVar(&o.labels, sidecar.FlagLabels, "", "file with the pod's labels, as the downward API writes it")
	fs.StringVar(&o.token, sidecar.FlagToken, "", "file with the token for the coordinator")
	fs.StringVar(&o.coordinator, sidecar.FlagCoordinator, "", "URL of the coordinator")
	fs.StringVar(&o.listen, sidecar.FlagListen, sidecar.DataAddress, "address calls are served on")
	fs.StringVar(&o.admin, sidecar.FlagAdmin, sidecar.AdminAddress, "address of metrics and health; empty for none")
	fs.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error; debug logs every call")
	fs.DurationVar(&o.drain, "drain", 25*time.Second, "the longest drain after the signal to end")
	fs.DurationVar(&o.ping, "ping-interval", plan.PingEvery, "the silence that clients hear whose lane keeps them alive, at most 15s")
	fs.Int64Var(&o.spoolMiB, "spool-mib", 0, "memory for request bodies in MiB; 0 is two fifths of the memory limit")
	fs.BoolVar(&o.version, "version", false, "print the version")
	o.addDeferredFlags(fs)
	o.budgets.addFlags(fs)
}

// addDeferredFlags are those that say where deferred calls are kept.
func (o *options) addDeferredFlags(fs *flag.FlagSet) {
	fs.StringVar(&o.caFile, sidecar.FlagCAFile, "", "file with further CA certificates for providers, callbacks, --deferred-store and --budget-store")
	fs.StringVar(&o.state, sidecar.FlagState, "", "directory that keeps the last good plan and deferred calls")
	fs.StringVar(&o.namespace, sidecar.FlagNamespace, os.Getenv(sidecar.EnvNamespace), "namespace of the policies")
	fs.StringVar(&o.deferredStore, sidecar.FlagDeferredStore, "", "redis:// or rediss:// URL that keeps deferred calls instead of the state directory")
	fs.StringVar(&o.deferredPassword, sidecar.FlagDeferredPassword, "", "file with the password of --deferred-store; an empty file is none")
}

// complete fills in what was not given.
func (o *options) complete() {
	if o.namespace == "" {
		o.namespace = "default"
	}
	for o.incarnation == 0 {
		o.incarnation = rand.Uint64()
	}
}

// validate refuses combinations that make no sense.
func (o *options) validate() error {
	switch {
	case o.plan != "" && o.policy != "":
		return errors.New("--plan and --policy exclude each other")
	case o.plan == "" && o.policy == "":
		return errors.New("one of --plan and --policy is required")
	case o.policy != "" && o.coordinator != "":
		return errors.New("--policy runs alone, without --coordinator")
	case o.drain < 0:
		return fmt.Errorf("--drain %s is negative", o.drain)
	case o.ping < minPing || o.ping > maxPing:
		return fmt.Errorf("--ping-interval %s is not between %s and %s", o.ping, minPing, maxPing)
	case o.spoolMiB < 0:
		return fmt.Errorf("--spool-mib %d is negative", o.spoolMiB)
	case o.spoolMiB > maxSpoolMiB:
		return fmt.Errorf("--spool-mib %d is more than %d", o.spoolMiB, maxSpoolMiB)
	case o.namespace != "" && !validNamespace.MatchString(o.namespace):
		// It parts the calls of one tenant from another's in a store that several use.
		return fmt.Errorf("--%s %q is not a namespace's name", sidecar.FlagNamespace, o.namespace)
	case o.deferredPassword != "" && o.deferredStore == "":
		return errors.New("--deferred-store-password-file is for --deferred-store")
	case o.deferredStore != "":
		if err := redisstore.CheckURL(o.deferredStore); err != nil {
			return fmt.Errorf("--%s: %w", sidecar.FlagDeferredStore, err)
		}
	}
	if _, err := logs.Level(o.logLevel); err != nil {
		return fmt.Errorf("--log-level %q %w", o.logLevel, err)
	}
	o.complete()
	return o.budgets.validate(o)
}

// What is silent for longer than maxPing is given up by some load balancers and clients; more often than minPing is a mistake
// in the unit.
const (
	minPing = 10 * time.Millisecond
	maxPing = 15 * time.Second
)

// maxSpoolMiB is a terabyte: what is more is a mistake in the unit.
const maxSpoolMiB = 1 << 20

var validNamespace = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
