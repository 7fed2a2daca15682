// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
)

const testdata = "../registry/testdata"

// message is a request or a response of a fixtures file, with the number of its dialect.
type message struct {
	dialect      uint8
	start        []string
	fields, body string
}

// numbered gives each dialect a number, so that a fuzzer can choose one.
func numbered(n uint8) dialect.Dialect {
	all := facts.All()
	return registry.ByName(all[int(n)%len(all)].Name)
}

func number(name string) uint8 {
	return uint8(slices.IndexFunc(facts.All(), func(f facts.Facts) bool { return f.Name == name || f.Route == name }))
}

// fixtures are all requests or all responses of all dialects.
func fixtures(tb testing.TB, kind string) (out []message) {
	tb.Helper()
	paths, err := filepath.Glob(testdata + "/*.txtar")
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no fixtures: %v", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		route := strings.TrimSuffix(filepath.Base(path), ".txtar")
		for _, section := range txtar.Parse(content).Files {
			if !strings.HasSuffix(section.Name, "/"+kind) {
				continue
			}
			head, body, _ := strings.Cut(string(section.Data), "\n\n")
			start, fields, _ := strings.Cut(head, "\n")
			out = append(out, message{number(route), strings.SplitN(start, " ", 3), fields, body})
		}
	}
	return out
}

// vectors are the recorded responses.
func vectors(tb testing.TB) (out []message) {
	tb.Helper()
	f, err := os.Open(testdata + "/responses.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var v struct {
			Provider string
			Status   json.Number
			Headers  map[string]any
			Body     string
		}
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			tb.Fatal(err)
		}
		found, _ := facts.Find(v.Provider)
		m := message{dialect: number(found.Name), start: []string{"HTTP/1.1", v.Status.String()}, body: v.Body}
		for name, value := range v.Headers {
			if text, ok := value.(string); ok {
				m.fields += name + ": " + text + "\n"
			}
		}
		out = append(out, m)
	}
	return out
}
