// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/headgate-dev/headgate/internal/dialect"
)

// Bounds of a route's behaviour.
const (
	maxAttempts = 10
	maxDepth    = 10_000
	// maxMillis keeps sums of a few times far from overflow: a bit over 11 years, the longest an author
	// can write.
	maxMillis        = 400_000_000_000
	maxWindowSeconds = 31 * 24 * 60 * 60
	wholePermille    = 1000
)

func (r *Route) validate() error {
	if strings.ContainsAny(r.Name, "/?#%\\ ") {
		return errors.New("name does not fit in a path")
	}
	if _, ok := dialect.ByName(r.Dialect); !ok {
		return fmt.Errorf("dialect %q is not known", r.Dialect)
	}
	if err := validBaseURL(r.BaseURL); err != nil {
		return fmt.Errorf("baseURL: %w", err)
	}
	if !validKey(r.CredentialKey) {
		return errors.New("credentialKey is not a key's name")
	}
	if err := r.validateLimits(); err != nil {
		return err
	}
	if r.Outage != "" && r.Outage != LastGrant && r.Outage != Open {
		return fmt.Errorf("outage %q is not known", r.Outage)
	}
	if err := r.validateBehaviour(); err != nil {
		return err
	}
	if err := r.validateInstead(); err != nil {
		return err
	}
	return r.validateLanes()
}

func validBaseURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the scheme is neither http nor https")
	case u.Hostname() == "":
		return errors.New("no host")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#"):
		return errors.New("more than a scheme, host, port and path")
	case strings.HasSuffix(u.Path, "/"):
		return errors.New("a trailing slash")
	}
	return nil
}

func (r *Route) validateLimits() error {
	if len(r.Limits) > MaxLimits {
		return fmt.Errorf("%d limits exceed %d", len(r.Limits), MaxLimits)
	}
	names := map[string]bool{}
	for i, limit := range r.Limits {
		if err := unique(names, limit.Name); err != nil {
			return fmt.Errorf("limits[%d]: %w", i, err)
		}
		if err := limit.validate(); err != nil {
			return fmt.Errorf("limit %s: %w", limit.Name, err)
		}
		if limit.Account != "" && limit.Account != r.Account {
			return fmt.Errorf("limit %s: it is of account %q and the route of %q", limit.Name, limit.Account, r.Account)
		}
	}
	return nil
}

func (l Limit) validate() error {
	if l.Amount < 0 || l.Amount > MaxAmount || l.Burst < 0 || l.Burst > MaxAmount {
		return fmt.Errorf("amount %d or burst %d is not between 0 and %d", l.Amount, l.Burst, int64(MaxAmount))
	}
	if len(l.Models) > MaxModels {
		return fmt.Errorf("%d models exceed %d", len(l.Models), MaxModels)
	}
	if l.Account != "" && AccountOf(l.Name) != l.Account {
		return fmt.Errorf("it is of account %q, which its name does not begin with", l.Account)
	}
	if l.MaxGateways < 0 {
		return fmt.Errorf("maxGateways %d is negative", l.MaxGateways)
	}
	switch l.Budget {
	case InFlight:
		if l.WindowSeconds != 0 {
			return errors.New("InFlight has a window")
		}
	case Requests, Tokens, InputTokens, OutputTokens:
		if l.WindowSeconds < 1 || l.WindowSeconds > maxWindowSeconds {
			return fmt.Errorf("window of %d seconds is not between 1 and %d", l.WindowSeconds, maxWindowSeconds)
		}
	default:
		return fmt.Errorf("budget %q is not known", l.Budget)
	}
	return nil
}

func (r *Route) validateBehaviour() error {
	if r.Deadline.DefaultMillis < 1 || r.Deadline.DefaultMillis > maxMillis {
		return fmt.Errorf("deadline of %dms is out of bounds", r.Deadline.DefaultMillis)
	}
	t := r.Throttle
	if t.HonourCeilingMillis < 0 || t.HonourCeilingMillis > maxMillis || t.JitterPercent < 0 || t.JitterPercent > 100 {
		return errors.New("throttle: honour ceiling or jitter is out of bounds")
	}
	if err := validAttempts(t.MaxAttempts); err != nil {
		return fmt.Errorf("throttle: %w", err)
	}
	if err := validBackoff(r.Unguided.BaseMillis, r.Unguided.CapMillis); err != nil {
		return fmt.Errorf("unguided: %w", err)
	}
	err := errors.Join(validBackoff(r.Overload.BaseMillis, r.Overload.CapMillis), validAttempts(r.Overload.MaxAttempts))
	if err != nil {
		return fmt.Errorf("overload: %w", err)
	}
	return nil
}

func validAttempts(attempts int32) error {
	if attempts < 1 || attempts > maxAttempts {
		return fmt.Errorf("%d attempts are not between 1 and %d", attempts, maxAttempts)
	}
	return nil
}

func validBackoff(base, ceiling int64) error {
	if base < 0 || base > ceiling || ceiling > maxMillis {
		return fmt.Errorf("base of %dms is negative or above the cap of %dms", base, ceiling)
	}
	return nil
}
