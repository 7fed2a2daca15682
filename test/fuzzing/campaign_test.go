// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Scripts that stand for a package's test; "$*" tells the fuzzing and its time from an input run alone.
const (
	well = "echo 'fuzz: elapsed: 1s, execs: 900 (300/sec), new interesting: 2 (total: 40)'; echo PASS"
	// wrong finds an input of its own package.
	wrong = `case "$*" in *count*) echo "panic: the trace"; exit 2;; esac
mkdir -p testdata/fuzz/FuzzX; echo 'string("the input")' >testdata/fuzz/FuzzX/1
echo '--- FAIL: FuzzX (0.28s)'; echo '    --- FAIL: FuzzX (0.00s)'; echo '        x_test.go:9: negative'
echo '    Failing input written to testdata/fuzz/FuzzX/1'; exit 1`
	// slow is above the engine's ten seconds for an input, and passes alone.
	slow = `case "$*" in *count*) exit 0;; esac
mkdir -p testdata/fuzz/FuzzX; echo 'string("the input")' >testdata/fuzz/FuzzX/1
echo 'fuzz: elapsed: 1s, execs: 900 (300/sec), new interesting: 2 (total: 40)'; echo '--- FAIL: FuzzX (0.28s)'
echo '    fuzzing process hung or terminated unexpectedly: exit status 2'; echo '    Failing input written to testdata/fuzz/FuzzX/1'; exit 1`
	// starving tries nothing but its corpus in less than the time it is given once more.
	starving = `case "$*" in *fuzztime=30s*) echo 'fuzz: elapsed: 9s, gathering baseline coverage: 3/40 completed';; *) ` + well + `;; esac`
	never    = "echo 'fuzz: elapsed: 1s, execs: 40 (300/sec), new interesting: 0 (total: 40)'"
)

// campaign has a package for each script, with the target FuzzX.
func campaign(t *testing.T, scripts map[string]string) (*Campaign, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	c := &Campaign{Root: t.TempDir(), Corpus: t.TempDir(), Each: 30 * time.Second, Jobs: 3, Workers: 1, KeepGoing: true, Out: &out}
	for dir := range scripts {
		if err := os.MkdirAll(filepath.Join(c.Root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		source := "package x\n\nfunc FuzzX(f *testing.F) {}\n"
		if err := os.WriteFile(filepath.Join(c.Root, dir, "x_test.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Another process writes them: what this one has open for writing, however briefly, a child begun beside it has too,
	// and then nobody can run it.
	c.stand = func(ctx context.Context, dir string) error {
		if scripts[dir] == "" {
			return errors.New("undefined: x")
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", `cat >"$0" && chmod 700 "$0"`, c.binary(dir))
		cmd.Stdin = strings.NewReader("#!/bin/sh\n" + scripts[dir] + "\n")
		return cmd.Run()
	}
	var err error
	if c.Targets, err = Find(c.Root); err != nil || len(c.Targets) != len(scripts) {
		t.Fatalf("found %v: %v", c.Targets, err)
	}
	return c, &out
}

// TestCampaignsFailOnWhatTheyFind: with the target, the input and the trace, whatever the others do; and on a target that
// tried nothing new though it was given more time.
func TestCampaignsFailOnWhatTheyFind(t *testing.T) {
	for name, tc := range map[string]struct {
		scripts map[string]string
		clean   bool
		says    []string
	}{
		"nothing":           {map[string]string{"a": well, "b/c": well}, true, []string{"a FuzzX: 900 executions, 862 beyond its corpus of 38, 2 new inputs", "2 of 2 targets ran, 1800 executions"}},
		"a finding":         {map[string]string{"a": well, "b": wrong, "c": well}, false, []string{`string("the input")`, "x_test.go:9: negative", "panic: the trace", "b/testdata/fuzz/FuzzX/1", "go test ./b -run 'FuzzX/1'", "3 of 3 targets ran", "found by: b FuzzX"}},
		"an end of time":    {map[string]string{"a": well + "; echo '--- FAIL: FuzzX (3.28s)'; echo '    context deadline exceeded'; exit 1"}, true, []string{"(the time was over within an input)"}},
		"a slow input":      {map[string]string{"a": slow}, true, []string{`passes ten times alone`, `the input`}},
		"a late beginner":   {map[string]string{"a": starving}, true, []string{"a FuzzX: 0 executions", "862 beyond its corpus"}},
		"none that is new":  {map[string]string{"a": well, "b": never}, false, []string{"found by: b FuzzX: executed nothing beyond its corpus"}},
		"a broken package":  {map[string]string{"a": well, "b": ""}, false, []string{"b cannot be built: undefined: x", "1 of 2 targets ran", "found by: b: it cannot be built"}},
		"no word of it":     {map[string]string{"a": "exit 3"}, false, []string{"found by: a FuzzX"}},
		"an engine that is": {map[string]string{"a": "kill -9 $$"}, false, []string{"found by: a FuzzX"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, out := campaign(t, tc.scripts)
			clean, err := c.Run(t.Context())
			if clean != tc.clean || err != nil {
				t.Errorf("clean %t, %v; want %t\n%s", clean, err, tc.clean, out)
			}
			for _, words := range tc.says {
				if !strings.Contains(out.String(), words) {
					t.Errorf("it does not say %q:\n%s", words, out)
				}
			}
		})
	}
}

// TestFindingsStayAndSlowInputsDoNot: a finding's input is a test from then on, that of a busy machine is not.
func TestFindingsStayAndSlowInputsDoNot(t *testing.T) {
	c, _ := campaign(t, map[string]string{"found": wrong, "slow": slow})
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{"found": true, "slow": false} {
		_, err := os.Stat(filepath.Join(c.Root, dir, "testdata/fuzz/FuzzX/1"))
		if (err == nil) != want {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestAFindingEndsARunThatIsNotToKeepGoing: no target begins after it.
func TestAFindingEndsARunThatIsNotToKeepGoing(t *testing.T) {
	c, out := campaign(t, map[string]string{"a": wrong, "b": well, "c": well})
	c.Jobs, c.KeepGoing = 1, false
	if clean, err := c.Run(t.Context()); clean || err != nil || !strings.Contains(out.String(), "1 of 3 targets ran") {
		t.Errorf("clean %t, %v\n%s", clean, err, out)
	}
}

// TestTargetsRunSoManyAtOnceAndSpeakOneByOne: never more, and what one says is not cut by what another says.
func TestTargetsRunSoManyAtOnceAndSpeakOneByOne(t *testing.T) {
	running := t.TempDir()
	// Each puts a file there while it runs, and fails if there are four.
	script := "cd " + running + ` && touch $$ && n=$(ls | wc -l); sleep 0.02; rm $$; [ $n -le 3 ] || { echo "too many: $n"; exit 9; }; ` + well
	scripts := map[string]string{}
	for _, dir := range strings.Split("abcdefghijklmnop", "") {
		scripts[dir] = script
	}
	scripts["z"] = wrong
	c, out := campaign(t, scripts)
	if _, err := c.Run(t.Context()); err != nil || strings.Contains(out.String(), "too many") {
		t.Errorf("%v\n%s", err, out)
	}
	block := out.String()[strings.Index(out.String(), "--- z FuzzX: what"):strings.Index(out.String(), "--- z FuzzX: end")]
	if strings.Contains(block, "beyond its corpus") {
		t.Errorf("another speaks within what one says:\n%s", block)
	}
}

// TestAnInterruptedRunIsNotClean: nothing was found because nothing ran.
func TestAnInterruptedRunIsNotClean(t *testing.T) {
	c, out := campaign(t, map[string]string{"a": well})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if clean, err := c.Run(ctx); clean || !errors.Is(err, context.Canceled) {
		t.Errorf("clean %t, %v\n%s", clean, err, out)
	}
}

func TestTheEngineBeginsWhereItIsTold(t *testing.T) {
	c := &Campaign{Seed: 7}
	for godebug, want := range map[string]string{"": "GODEBUG=fuzzseed=7", "x=1": "GODEBUG=x=1,fuzzseed=7"} {
		if env := c.environment(godebug); env[len(env)-1] != want {
			t.Errorf("%q becomes %q", godebug, env[len(env)-1])
		}
	}
	if env := (&Campaign{}).environment(""); len(env) != len(os.Environ()) {
		t.Errorf("%d variables of %d", len(env), len(os.Environ()))
	}
}
