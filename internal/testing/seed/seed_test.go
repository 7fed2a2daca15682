// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTheEnvironmentIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		env          map[string]string
		first        int64
		times        int
		seed, checks string
	}{
		"nothing is said":     {times: 1, seed: "1", checks: "100"},
		"a number":            {env: map[string]string{NumberVariable: "77"}, first: 77, times: 1, seed: "77", checks: "100"},
		"more":                {env: map[string]string{TimesVariable: "10"}, times: 10, seed: "1", checks: "1000"},
		"rapid's own":         {env: map[string]string{"RAPID_SEED": "9"}, times: 1, seed: "9", checks: "100"},
		"both; ours is newer": {env: map[string]string{"RAPID_SEED": "9", NumberVariable: "7"}, first: 7, times: 1, seed: "7", checks: "100"},
	} {
		t.Run(name, func(t *testing.T) {
			lookup := func(key string) (string, bool) { v, ok := c.env[key]; return v, ok }
			got, err := choose(lookup)
			if err != nil {
				t.Fatal(err)
			}
			flags := rapidFlags(c.env["RAPID_SEED"])
			if err := got.apply(flags, lookup); err != nil {
				t.Fatal(err)
			}
			if seed := flags.Lookup("rapid.seed").Value.String(); seed != c.seed || got.first != c.first {
				t.Errorf("the seed is %s and the first history %d, want %s and %d", seed, got.first, c.seed, c.first)
			}
			if checks := flags.Lookup("rapid.checks").Value.String(); checks != c.checks || got.times != c.times {
				t.Errorf("%s checks, and histories times %d, want %s and %d", checks, got.times, c.checks, c.times)
			}
			flags.Visit(func(f *flag.Flag) { t.Errorf("%s passes for given on the command line", f.Name) })
		})
	}
}

// rapidFlags are rapid's as they stand before this package begins.
func rapidFlags(seed string) *flag.FlagSet {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	flags.Uint64("rapid.seed", 0, "")
	flags.Int("rapid.checks", 100, "")
	if seed != "" {
		_ = flags.Lookup("rapid.seed").Value.Set(seed)
	}
	return flags
}

func TestRandomIsAnotherNumberEachTime(t *testing.T) {
	lookup := func(key string) (string, bool) { return "random", key == NumberVariable }
	a, _ := choose(lookup)
	b, _ := choose(lookup)
	if a.first == b.first || a.first < 1 || b.first < 1 {
		t.Errorf("%d and %d", a.first, b.first)
	}
}

func TestWhatIsNoNumberIsAnError(t *testing.T) {
	for _, key := range []string{NumberVariable, TimesVariable} {
		for _, text := range []string{"", "0", "-1", "x", "1.5", "99999999999999999999"} {
			_, err := choose(func(k string) (string, bool) { return text, k == key })
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s=%q", key, text)) {
				t.Errorf("%s=%q: %v", key, text, err)
			}
		}
	}
}

// usualDraws is what the usual seed draws, on every machine.
const usualDraws = "b06dd2ffa517e862"

// TestDraws tells what rapid draws; other tests run it in processes of their own.
func TestDraws(t *testing.T) {
	sum := fnv.New64a()
	rapid.Check(t, func(t *rapid.T) {
		fmt.Fprint(sum, rapid.IntRange(-5, 1e6).Draw(t, "n"), rapid.Bool().Draw(t, "b"), rapid.String().Draw(t, "s"))
		fmt.Fprintf(sum, "%.6g", rapid.Float64Range(0, 1e6).Draw(t, "f"))
		fmt.Fprint(sum, rapid.SliceOf(rapid.SampledFrom([]string{"x", "y", "z"})).Draw(t, "l"))
	})
	t.Logf("drawn: %016x", sum.Sum64())
}

// draws runs TestDraws in a process of its own.
func draws(t *testing.T, env string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run=^TestDraws$", "-test.v"}, args...)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "HEADGATE_") || strings.HasPrefix(v, "RAPID_")
	})
	cmd.Env = append(cmd.Env, env)
	out, err := cmd.CombinedOutput()
	found := regexp.MustCompile(`drawn: ([0-9a-f]{16})`).FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(found[1])
}

// What is drawn is the same in every process, unless somebody says otherwise; the command line has the last word.
func TestWhatIsDrawnRepeats(t *testing.T) {
	seven := draws(t, NumberVariable+"=7")
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{want: usualDraws},
		{env: "RAPID_SEED=1", want: usualDraws},
		{env: "RAPID_SEED=7", want: seven},
		{args: []string{"-rapid.seed=7"}, want: seven},
		{env: NumberVariable + "=8", args: []string{"-rapid.seed=7"}, want: seven},
	} {
		if got := draws(t, c.env, c.args...); got != c.want {
			t.Errorf("with %q and %q were drawn %s, want %s", c.env, c.args, got, c.want)
		}
	}
	if seven == usualDraws {
		t.Error("another number draws the same")
	}
	for _, other := range []string{NumberVariable + "=random", "RAPID_SEED=0", TimesVariable + "=2"} {
		if got := draws(t, other); got == usualDraws {
			t.Errorf("with %q the usual was drawn", other)
		}
	}
}
