// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// fixture is one group of sections of a fixtures file: what was sent, what came, and what that means.
type fixture struct {
	name string
	d    dialect.Dialect
	// request and response are nil where the file has none.
	request, response *message
	want              wanted
}

// message is a request or a response; start is its first line, in parts.
type message struct {
	start  [3]string
	header http.Header
	body   []byte
}

func (m *message) status(t *testing.T) int {
	t.Helper()
	status, err := strconv.Atoi(m.start[1])
	if err != nil {
		t.Fatalf("status %q: %v", m.start[1], err)
	}
	return status
}

// fixtureFiles reads every fixtures file, by dialect.
func fixtureFiles(t *testing.T) map[string][]fixture {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	files := map[string][]fixture{}
	for _, path := range paths {
		route := strings.TrimSuffix(filepath.Base(path), ".txtar")
		f, _ := facts.ByRoute(route)
		d := ByRoute(route)
		if d == nil {
			t.Errorf("%s: no dialect has that route", path)
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = parseFixtures(t, path, d, content)
	}
	return files
}

func parseFixtures(t *testing.T, path string, d dialect.Dialect, content []byte) (out []fixture) {
	t.Helper()
	byName := map[string]int{}
	for _, section := range txtar.Parse(content).Files {
		name, kind, ok := strings.Cut(section.Name, "/")
		if !ok {
			t.Fatalf("%s: section %q: want NAME/request, NAME/response or NAME/want.json", path, section.Name)
		}
		i, known := byName[name]
		if !known {
			i = len(out)
			byName[name] = i
			out = append(out, fixture{name: name, d: d})
		}
		switch kind {
		case "request":
			out[i].request = parseMessage(t, path+" "+section.Name, section.Data)
		case "response":
			out[i].response = parseMessage(t, path+" "+section.Name, section.Data)
		case "want.json":
			strict := json.NewDecoder(bytes.NewReader(section.Data))
			strict.DisallowUnknownFields()
			if err := strict.Decode(&out[i].want); err != nil {
				t.Fatalf("%s %s: %v", path, section.Name, err)
			}
		default:
			t.Fatalf("%s: section %q", path, section.Name)
		}
	}
	return out
}

func parseMessage(t *testing.T, where string, raw []byte) *message {
	t.Helper()
	head, body, _ := strings.Cut(string(raw), "\n\n")
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	start := strings.SplitN(lines[0], " ", 3)
	if len(start) < 2 {
		t.Fatalf("%s: first line %q", where, lines[0])
	}
	m := &message{header: http.Header{}}
	copy(m.start[:], start)
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("%s: header line %q", where, line)
		}
		m.header.Add(textproto.TrimString(name), textproto.TrimString(value))
	}
	if m.header.Get("X-Fixture") != "keep-newline" {
		body = strings.TrimSuffix(body, "\n")
	}
	m.body = []byte(body)
	switch kind := m.header.Get("X-Fixture-Body"); kind {
	case "":
	case "base64":
		decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(body), ""))
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		m.body = decoded
	case "eventstream":
		m.body = frameEvents(t, where, m.body)
	default:
		t.Fatalf("%s: X-Fixture-Body %q", where, kind)
	}
	m.header.Del("X-Fixture")
	m.header.Del("X-Fixture-Body")
	return m
}
