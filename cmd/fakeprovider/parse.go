// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// parseLimit reads DIALECT:BUDGET=AMOUNT[/WINDOW[/BURST]].
func parseLimit(s string) (fakeprovider.Dialect, fakeprovider.Limit, error) {
	fail := func(why string) (fakeprovider.Dialect, fakeprovider.Limit, error) {
		return "", fakeprovider.Limit{}, fmt.Errorf("--limit %q: %s", s, why)
	}
	name, rest, ok := strings.Cut(s, ":")
	dialect, known := dialectNamed(name)
	if !ok || !known {
		return fail("want DIALECT:BUDGET=AMOUNT/WINDOW[/BURST]")
	}
	budget, rest, _ := strings.Cut(rest, "=")
	parts := strings.Split(rest, "/")
	limit := fakeprovider.Limit{Budget: fakeprovider.Budget(budget), Window: defaultWindow}
	var err error
	if limit.Amount, err = parseAmount(parts[0]); err != nil {
		return fail(err.Error())
	}
	if len(parts) > 1 {
		if limit.Window, err = time.ParseDuration(parts[1]); err != nil || limit.Window <= 0 {
			return fail("the window is not a positive duration")
		}
	}
	if len(parts) > 2 {
		if limit.Burst, err = parseAmount(parts[2]); err != nil {
			return fail(err.Error())
		}
	}
	if len(parts) > 3 {
		return fail("too many parts")
	}
	return dialect, limit, nil
}

func parseAmount(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%q is not an amount", s)
	}
	return v, nil
}

// ofDialect reads DIALECT=VALUE, where VALUE is one of allowed.
func ofDialect(s, flag string, allowed ...string) (fakeprovider.Dialect, string, error) {
	name, value, _ := strings.Cut(s, "=")
	dialect, known := dialectNamed(name)
	if !known || !slices.Contains(allowed, value) {
		return "", "", fmt.Errorf("--%s %q: want DIALECT=%s", flag, s, strings.Join(allowed, "|"))
	}
	return dialect, value, nil
}

func dialectNamed(name string) (fakeprovider.Dialect, bool) {
	for _, d := range fakeprovider.Dialects() {
		if strings.EqualFold(name, string(d)) {
			return d, true
		}
	}
	return "", false
}
