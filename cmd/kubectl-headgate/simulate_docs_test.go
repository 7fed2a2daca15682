// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the documents' examples anew")

// block is what stands between a marker's code fence and the fence's end.
func block(t *testing.T, doc, marker string) string {
	t.Helper()
	_, rest, found := strings.Cut(doc, "<!-- example: "+marker+" -->\n```")
	_, rest, begun := strings.Cut(rest, "\n")
	text, _, ended := strings.Cut(rest, "```")
	if !found || !begun || !ended {
		t.Fatalf("no example %s", marker)
	}
	return text
}

// TestTheDocumentsExample is what the command really says.
func TestTheDocumentsExample(t *testing.T) {
	const name = "../../docs/simulate.md"
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(content)
	workload := filepath.Join(t.TempDir(), "workload.yaml")
	if err := os.WriteFile(workload, []byte(block(t, doc, "workload")), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := run("", "simulate", "-p", "../../config/samples/05-lanes.yaml", "-w", workload)
	if code != 0 {
		t.Fatalf("status %d: %s", code, errs)
	}
	old := block(t, doc, "output")
	if *update {
		head, tail, _ := strings.Cut(doc, "<!-- example: output -->\n```\n"+old+"```")
		doc = head + "<!-- example: output -->\n```\n" + out + "```" + tail
		if err := os.WriteFile(name, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != out {
		t.Errorf("the document says\n%s\nand the command\n%s", old, out)
	}
}
