// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/testing/fixtures"
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

// recorded are all requests or all responses of all dialects.
func recorded(tb testing.TB, choose func(fixtures.Fixture) *fixtures.Message) (out []message) {
	tb.Helper()
	files, err := fixtures.Read(testdata)
	if err != nil {
		tb.Fatal(err)
	}
	for route, file := range files {
		for _, f := range file {
			if m := choose(f); m != nil {
				out = append(out, message{number(route), m.Start[:], fields(m.Header), string(m.Body)})
			}
		}
	}
	return out
}

func requests(f fixtures.Fixture) *fixtures.Message  { return f.Request }
func responses(f fixtures.Fixture) *fixtures.Message { return f.Response }

func fields(h http.Header) string {
	var out strings.Builder
	_ = h.Write(&out) // a Builder takes everything
	return out.String()
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
