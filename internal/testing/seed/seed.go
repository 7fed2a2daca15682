// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	_ "pgregory.net/rapid" // It has its flags before this package begins.
)

// Variables of the environment.
const (
	// NumberVariable is a number from which all random tests begin, or "random" for another one in each test binary.
	NumberVariable = "HEADGATE_SEED"
	// TimesVariable is how many times as many tries a random test makes.
	TimesVariable = "HEADGATE_EXPLORE"
)

const (
	// usual is rapid's seed if nothing is said, where 0 would have each property begin elsewhere.
	usual = 1
	// most keeps a test's count far from overflow, and largest what is added to a number.
	most, largest = 1_000_000, int64(1) << 53
)

var chosen = mustChoose()

// First is the number of the first random history: 0, if nothing is said.
func First() int64 { return chosen.first }

// Times multiplies the number of histories or systems that a test tries: 1, if nothing is said.
func Times() int { return chosen.times }

// choice is what the environment says.
type choice struct {
	first int64
	times int
	// named says that it states a number.
	named bool
}

func mustChoose() choice {
	c, err := choose(os.LookupEnv)
	if err == nil {
		err = c.apply(flag.CommandLine, os.LookupEnv)
	}
	if err != nil {
		panic(err)
	}
	return c
}

func choose(lookup func(string) (string, bool)) (choice, error) {
	c := choice{times: 1}
	if text, ok := lookup(TimesVariable); ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return c, fmt.Errorf("%s=%q: want a number from 1 to %d", TimesVariable, text, most)
		}
		c.times = n
	}
	text, ok := lookup(NumberVariable)
	switch {
	case !ok:
	case text == "random":
		c.first, c.named = 1+rand.Int64N(largest), true
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 || n > largest {
			return c, fmt.Errorf("%s=%q: want random, or a number from 1 to %d", NumberVariable, text, largest)
		}
		c.first, c.named = n, true
	}
	return c, nil
}

// apply sets rapid's defaults, which the command line is yet to overrule. It sets values, not flags: who asks which flags
// were given sees those of the command line alone.
func (c choice) apply(flags *flag.FlagSet, lookup func(string) (string, bool)) error {
	if _, said := lookup("RAPID_SEED"); !said || c.named {
		number := int64(usual)
		if c.named {
			number = c.first
		}
		if err := flags.Lookup("rapid.seed").Value.Set(strconv.FormatInt(number, 10)); err != nil {
			return err
		}
	}
	checks := flags.Lookup("rapid.checks").Value
	n, err := strconv.Atoi(checks.String())
	if err != nil {
		return err
	}
	return checks.Set(strconv.Itoa(n * c.times))
}
