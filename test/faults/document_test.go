// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

const preamble = `<!-- Written by go test ./test/faults -update; do not edit. -->
# Faults

What users of comparable gateways, SDKs, sidecars and operators really met: each fault with what Headgate does and the tests that prove it. The names of the tests begin with the fault's number, so ` + "`go test ./... -run 'A4[A-Z]'`" + ` runs what is said of A4. A test fails when a fault has none, when one of those named here is skipped, and when this page is not what they say.
`

// levels say how a test proves what it does, by where it stands; the first that fits.
var levels = []struct{ prefix, says string }{
	{"test/e2e", "real node"},
	{"test/dataplane", "gateway binary, official SDKs"},
	{"test/deferral", "gateway binary"},
	{"test/sharing", "gateway binaries and a coordinator"},
	{"test/sdks", "gateway binary, official SDKs"},
	{"test/providers", "every dialect's simulated provider"},
	{"test/exits", "gateway binary"},
	{"test/api", "real API server"},
	{"internal/webhook", "real API server"},
	{"internal/controller", "real API server"},
	{"internal/manager", "real API server"},
	{"internal/certs", "certificates"},
	{"internal/coordinator", "coordinator"},
	{"internal/gateway/proxy", "gateway, simulated time"},
	{"internal/gateway/share", "gateway, simulated time"},
	{"internal/gateway/server", "gateway, simulated time"},
	{"internal/schema/server_test.go", "real API server"},
	{"config", "manifests"},
	{"", "pure"},
}

func level(file string) string {
	for _, l := range levels {
		if strings.HasPrefix(file, l.prefix) {
			return l.says
		}
	}
	return ""
}

// write makes the page.
func write(proofs []proof) string {
	var b strings.Builder
	b.WriteString(preamble)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.title, s.about)
		for _, id := range s.ids {
			fault(&b, id, proofs)
		}
	}
	b.WriteString("\n## What cannot be tested here\n\n| | Why | What was done instead |\n|---|---|---|\n")
	for _, e := range elsewhere {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", e.what, e.why, e.instead)
	}
	return b.String()
}

func fault(b *strings.Builder, id string, proofs []proof) {
	var of []proof
	for _, p := range proofs {
		if !slices.Contains(p.ids, id) {
			continue
		}
		of = append(of, p)
		for _, told := range p.told {
			if told.id == id {
				fmt.Fprintf(b, "\n### %s\n\n%s\n\n**Headgate:** %s\n\n", id, told.fault, told.headgate)
			}
		}
	}
	slices.SortFunc(of, func(x, y proof) int { return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.name, y.name)) })
	for _, p := range of {
		fmt.Fprintf(b, "- [%s](../%s) in %s (%s)\n", p.name, p.file, path.Dir(p.file), level(p.file))
	}
}
