// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fuzzing

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// binary is where a package's instrumented test is built.
func (c *Campaign) binary(dir string) string {
	return filepath.Join(c.work, strings.ReplaceAll(dir, "/", "_")+".test")
}

// build builds the instrumented tests of all targets, two at a time: the compiler uses all processors, the linker one.
// It returns what could not be built.
func (c *Campaign) build(ctx context.Context) (broken map[string]error) {
	broken = map[string]error{}
	dirs := folders(c.Targets)
	compile := c.compile
	if c.stand != nil {
		compile = c.stand
	}
	errs := make([]error, len(dirs))
	each(2, len(dirs), func(i int) { errs[i] = compile(ctx, dirs[i]) })
	for i, err := range errs {
		if err != nil {
			broken[dirs[i]] = err
		}
	}
	return broken
}

// ours has the packages of the project alone counted, as -fuzz has all.
const ours = "-gcflags=github.com/headgate-dev/headgate/...=-d=libfuzzer"

func (c *Campaign) compile(ctx context.Context, dir string) error {
	counted := "-fuzz=."
	if c.Own {
		counted = ours
	}
	// Without tables for debuggers the linker is twice as quick; traces need none.
	cmd := exec.CommandContext(ctx, "go", "test", "-c", counted, "-ldflags=-s -w", "-o", c.binary(dir), "./"+dir)
	cmd.Dir = c.Root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	// A package whose test files are left out by a build tag builds nothing.
	if _, err := os.Stat(c.binary(dir)); err != nil {
		return fmt.Errorf("no test was built: %w", err)
	}
	return nil
}
