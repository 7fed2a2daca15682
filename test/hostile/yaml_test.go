// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
)

// absurd are files by what is wrong with them.
func absurd() map[string]string {
	head := "apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: a}\n"
	smallest := head + "spec: {providers: [{name: openai}]}\n"
	limit := func(fields string) string {
		return head + "spec: {providers: [{name: openai, limits: [{name: tokens, budget: Tokens, per: Minute, " + fields + "}]}]}\n"
	}
	rep := strings.Repeat
	return map[string]string{
		"laughs":             laughs(9),
		"laughs of 40":       laughs(40),
		"quadratic":          "a: &a \"" + rep("x", 100_000) + "\"\nb: [" + rep("*a, ", 20_000) + "]\n",
		"alias of itself":    "a: &a [*a]\n",
		"alias of none":      "a: *b\n",
		"merge of itself":    "a: &a {<<: *a}\n",
		"merges":             merges(),
		"anchored policy":    head + "x: &p {providers: [{name: openai}]}\nspec: *p\n",
		"10,000 documents":   manyDocuments(smallest, 10_000),
		"10,000 empty":       rep("---\n", 10_000),
		"250,000 empty":      rep("---\n", 250_000),
		"1,001 policies":     manyDocuments(head+"spec: {}\n", 1_001),
		"flow depth":         "a: " + rep("[", 100_000) + rep("]", 100_000),
		"flow map depth":     "a: " + rep("{a: ", 100_000) + rep("}", 100_000),
		"block depth":        depth(1_000),
		"list depth":         "a:\n " + rep("- ", 100_000),
		"key depth":          rep("? ", 100_000),
		"deep in the spec":   head + "spec: {providers: " + rep("[", 9_000) + rep("]", 9_000) + "}",
		"amount 1e400":       limit("amount: 1e400"),
		"amount nan":         limit("amount: .nan"),
		"amount inf":         limit("amount: .inf"),
		"amount huge":        limit("amount: " + rep("9", 400)),
		"amount huge text":   limit("amount: \"" + rep("9", 400_000) + "\""),
		"amount 1e18":        limit("amount: 1e18"),
		"amount 9E":          limit("amount: 9E"),
		"amount hex":         limit("amount: 0x7fffffffffffffff"),
		"amount octal":       limit("amount: 0777"),
		"amount base 60":     limit("amount: 190:20:30"),
		"amount underscore":  limit("amount: 1_000"),
		"amount fraction":    limit("amount: 1.5"),
		"amount minus zero":  limit("amount: -0"),
		"amount exponent":    limit("amount: \"1e999999999\""),
		"amount bool":        limit("amount: yes"),
		"burst huge":         limit("amount: 1, burst: 9223372036854775807"),
		"long name":          head + "spec: {providers: [{name: " + rep("x", 900_000) + "}]}",
		"long value":         head + "spec: {mode: " + rep("x", 900_000) + ", providers: [{name: openai}]}",
		"long key":           head + "spec:\n  ? " + rep("x", 900_000) + "\n  : 1\n",
		"long kind":          "apiVersion: headgate.dev/v1alpha1\nkind: " + rep("x", 900_000) + "\n",
		"long metadata name": strings.Replace(smallest, "name: a", "name: "+rep("a", 900_000), 1),
		"long anchor":        "&" + rep("a", 1_000) + " " + smallest,
		"many keys":          head + "spec: {" + counted("k%d: 1, ", 50_000) + "providers: [{name: openai}]}",
		"many empty strings": head + "spec: {providers: [" + rep("{name: \"\"}, ", 60_000) + "]}",
		"many providers":     head + "spec: {providers: [" + counted("{name: p%d}, ", 40_000) + "]}",
		"many labels":        head + "metadata: {name: a, labels: {" + counted("k%d: v, ", 50_000) + "}}\nspec: {}\n",
		"many wrong limits":  head + "spec: {providers: [{name: openai, limits: [" + rep("{amount: x}, ", 60_000) + "]}]}",
		"many models":        limit("amount: 1, models: [" + counted("m%d, ", 60_000) + "]"),
		"many wildcards":     limit("amount: 1, models: [\"" + rep("*", 200_000) + "\"]"),
		"many selectors":     head + "spec: {podSelector: {matchLabels: {" + counted("k%d: v, ", 50_000) + "}}, providers: [{name: openai}]}",
		"binary tag":         head + "spec: !!binary aGVsbG8=\n",
		"code tag":           "!!python/object/apply:os.system [\"true\"]\n",
		"own tag":            head + "spec: !x {providers: [{name: openai}]}\n",
		"set":                head + "spec: !!set {a, b}\n",
		"timestamp":          head + "spec: {mode: 2001-12-14t21:59:43.10-05:00, providers: [{name: openai}]}\n",
		"duplicate keys":     smallest + "kind: RateLimitPolicy\n",
		"null":               "null\n",
		"null spec":          head + "spec: null\n",
		"null providers":     head + "spec: {providers: [null]}\n",
		"number keys":        head + "spec: {1: 2, providers: [{name: openai}]}\n",
		"list keys":          head + "spec: {[a]: 2, providers: [{name: openai}]}\n",
		"tabs":               head + "spec:\n\tproviders: []\n",
		"BOM":                "\ufeff" + smallest,
		"UTF-16":             "\xff\xfea\x00p\x00i\x00",
		"zero bytes":         rep("\x00", 10_000),
		"not UTF-8":          head + "spec: {mode: \xff\xfe}\n",
		"control characters": head + "spec: {mode: \x07}\n",
		"CRLF":               strings.ReplaceAll(smallest, "\n", "\r\n"),
		"a directive":        "%YAML 9.9\n---\n" + smallest,
		"directives":         rep("%TAG ! tag:x,2000:\n", 10_000) + "---\n" + smallest,
		"comments":           rep("#"+rep("x", 99)+"\n", 10_000) + smallest,
		"spaces":             rep(" ", 1_000_000) + smallest,
		"block scalar":       head + "spec: |\n" + rep("  x\n", 100_000),
		"folded":             head + "spec: >\n" + rep("  x\n\n", 100_000),
		"two mebibytes":      rep("#", 2<<20),
		"durations":          head + "spec: {providers: [{name: openai, deadline: {default: 99999999999999999999h}}]}\n",
		"negative duration":  head + "spec: {providers: [{name: openai, deadline: {default: -1s}}]}\n",
		"URL of a megabyte":  head + "spec: {providers: [{name: openai, baseURL: \"https://" + rep("x", 900_000) + "\"}]}\n",
		"URL of controls":    head + "spec: {providers: [{name: openai, baseURL: \"https://a\\nb\\0c\"}]}\n",
	}
}

func laughs(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 x\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	return b.String()
}

func merges() string {
	var b strings.Builder
	b.WriteString("a0: &a0 {x: y}\n")
	for i := 1; i < 200; i++ {
		fmt.Fprintf(&b, "a%d: &a%d {<<: [*a%d, *a%d], k%d: v}\n", i, i, i-1, max(0, i-2), i)
	}
	return b.String()
}

func manyDocuments(text string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(text, "name: a", fmt.Sprintf("name: a%d", i), 1) + "---\n")
	}
	return b.String()
}

func depth(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func counted(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// legal is what a file may hold and be served: nothing in it is wrong, only odd.
var legal = []string{"BOM", "CRLF", "amount minus zero", "amount octal", "amount underscore", "comments", "long anchor", "many selectors", "own tag"}

// Bounds of what a file of policies may cost and say, with room for a busy machine.
const (
	// yamlWithin is of a processor: how long that is on a busy machine says nothing.
	yamlWithin = 30 * time.Second
	yamlMemory = 256 * mib
	yamlSays   = 16 << 10
)

// TestAbsurdYAMLEndsSoonInAFewWords gives the lone gateway and the kubectl plugin files that are legal YAML, or nearly,
// and absurd. Each is refused with a message that can be read, or served, in little time and memory.
func TestAbsurdYAMLEndsSoonInAFewWords(t *testing.T) {
	t.Parallel()
	plugin := buildPlugin(t)
	for name, text := range absurd() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "policy.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			serves := slices.Contains(legal, name)
			out, ok := finished(t, serves, gatewayBinary, "--policy", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain", "1ms")
			if ok != serves {
				t.Errorf("the gateway served %t: %.500s", ok, out)
			}
			if !serves && !strings.HasPrefix(out, "gateway: --policy ") {
				t.Errorf("the gateway says %.500q", out)
			}
			if _, ok = finished(t, false, plugin, "explain", "policy", file); ok && !serves {
				t.Error("the plugin explains what the gateway refuses")
			}
			if _, ok = finished(t, false, plugin, "simulate", "--policy", file, "--workload", file); ok {
				t.Error("the plugin simulates what is no workload")
			}
		})
	}
}

// finished runs a command to its end, one that serves until it does, and checks what it took and said.
func finished(t *testing.T, serves bool, name string, args ...string) (said string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*dataplane.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	out := &dataplane.Log{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if serves {
		for ctx.Err() == nil && !strings.Contains(out.String(), `"msg":"serving"`) {
			time.Sleep(10 * time.Millisecond)
		}
		ok = ctx.Err() == nil
		_ = cmd.Process.Signal(os.Interrupt)
	}
	stop := make(chan struct{})
	peak := make(chan int64)
	go func() { peak <- watch(cmd.Process.Pid, stop) }()
	err := cmd.Wait()
	close(stop)
	if worked := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); ctx.Err() != nil || worked > yamlWithin {
		t.Errorf("%s did not end, or after %s of work", filepath.Base(name), worked)
	}
	if most := <-peak; most > yamlMemory {
		t.Errorf("%s took %d MiB", filepath.Base(name), most/mib)
	}
	if said = out.String(); len(said) > yamlSays {
		t.Errorf("%s said %d bytes: %.300s", filepath.Base(name), len(said), said)
	}
	return said, ok || !serves && err == nil
}

// watch is the most memory that a process was seen with. What the system says at its end is at least what the test that
// started it had.
func watch(pid int, stop <-chan struct{}) (most int64) {
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if _, rest, found := strings.Cut(string(status), "VmHWM:"); err == nil && found {
			if kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
				most = max(most, kib<<10)
			}
		}
		select {
		case <-stop:
			return most
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func buildPlugin(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubectl-headgate")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/headgate-dev/headgate/cmd/kubectl-headgate").CombinedOutput(); err != nil {
		t.Fatalf("building the plugin: %v\n%s", err, out)
	}
	return path
}
