// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// grace is how long after its time a target may still run: it ends its input, and makes a finding smaller.
const grace = 3 * time.Minute

// result is what came of a target.
type result struct {
	Target
	figures
	verdict
	took time.Duration
	// log has all words of the engine; alone those of the input that was found, run again by itself.
	log, alone string
	// why says in a few words what is wrong, or what is to be known.
	why string
}

// fuzz runs a target for a time.
func (c *Campaign) fuzz(ctx context.Context, t Target, during time.Duration) result {
	args := []string{
		"-test.run=^$", "-test.fuzz=^" + t.Name + "$", "-test.fuzztime=" + during.String(),
		// A hundred tries to make an input smaller, and not a time: at the end of one the engine kills its worker, and most
		// of a short run goes by with that.
		"-test.fuzzminimizetime=100x", "-test.parallel=" + strconv.Itoa(c.Workers),
		"-test.fuzzcachedir=" + filepath.Join(c.Corpus, t.Dir),
	}
	began := time.Now()
	status, log := c.command(ctx, t, during+grace, args...)
	r := result{Target: t, figures: read(log), verdict: judge(status, log), took: time.Since(began), log: log}
	switch r.verdict {
	case found:
		r.why = "found something"
		c.again(ctx, &r)
	case timeUp:
		r.why = "(the time was over within an input)"
	case nothing:
	}
	return r
}

var hung = regexp.MustCompile(`hung or terminated unexpectedly`)

// again runs the input that was found by itself, for its trace: the engine keeps none of a process that died. One that a
// busy machine kept above the engine's ten seconds passes, and is no finding.
func (c *Campaign) again(ctx context.Context, r *result) {
	name := input(r.log)
	if name == "" {
		return
	}
	status, log := c.command(ctx, r.Target, grace, "-test.run=^"+r.Name+"$/^"+filepath.Base(name)+"$", "-test.count=10", "-test.failfast", "-test.timeout=1m")
	r.alone = log
	if status == 0 && hung.MatchString(r.log) {
		path := filepath.Join(c.Root, r.Dir, "testdata", "fuzz", name)
		content, _ := os.ReadFile(path)
		_ = os.Remove(path)
		r.verdict, r.why = nothing, fmt.Sprintf("(an input took ten seconds beside the others, and passes ten times alone: %q)", content)
	}
}

// environment is that of this process, with the engine's seed.
func (c *Campaign) environment(godebug string) []string {
	if c.Seed == 0 {
		return os.Environ()
	}
	return append(os.Environ(), "GODEBUG="+strings.TrimPrefix(godebug+",fuzzseed="+strconv.Itoa(c.Seed), ","))
}

// command runs a package's test in its folder, and returns its status and its words; -1 is a test that had to be killed.
func (c *Campaign) command(ctx context.Context, t Target, within time.Duration, args ...string) (int, string) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.binary(t.Dir), args...)
	cmd.Dir, cmd.Env = filepath.Join(c.Root, t.Dir), c.environment(os.Getenv("GODEBUG"))
	// The engine ends its workers when it is interrupted; a killed one would leave them.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, string(out)
	case errors.As(err, &exit):
		return exit.ExitCode(), string(out)
	}
	return -1, string(out) + "\n" + err.Error() + "\n"
}
