// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/testing/canary"
)

const throttled = "HTTP/1.1 429 Too Many Requests\nRetry-After: 9\n\n"

// run calls the command as main does.
func run(in string, args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	c := command{
		in: strings.NewReader(in), out: &stdout, errors: &stderr,
		now: func() time.Time { return time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC) },
	}
	code = c.run(args)
	shown.Look("the output", stdout.String())
	shown.Look("the errors", stderr.String())
	return code, stdout.String(), stderr.String()
}

// shown is what the command prints in all tests, in which no key may stand, whatever was pasted.
var shown canary.Watch

func TestMain(m *testing.M) { os.Exit(shown.Run(m)) }

// TestPastedKeysAreNotPrinted: people paste what their client printed, keys and prompts and all.
func TestPastedKeysAreNotPrinted(t *testing.T) {
	key := canary.Key("pasted")
	head := "HTTP/1.1 %s\nContent-Type: application/json\nRetry-After: 9\nAuthorization: Bearer " + key + "\nX-Api-Key: " + key +
		"\nSet-Cookie: session=" + key + "\nX-Request-Id: r-1\nLocation: https://a.example/?key=" + key + "\n\n"
	bodies := []string{
		`{"error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Rate limit reached for key %[1]s, asked: %[2]s"}}`,
		`{"error":{"message":"Incorrect API key provided: %[1]s. You said %[2]s","type":"invalid_request_error","param":"%[1]s","code":"%[1]s"}}`,
		`[{"error":{"code":429,"message":"%[1]s %[2]s","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"%[1]s","metadata":{"consumer":"%[1]s"}}]}}]`,
		`{"message":"%[1]s","__type":"%[1]s","detail":"%[2]s"}`,
		`<html>%[1]s %[2]s</html>`, `%[1]s`,
	}
	for _, f := range facts.All() {
		for _, status := range []string{"429 Too Many Requests", "401 Unauthorized", "200 OK", "529 x", "400 " + key} {
			for _, body := range bodies {
				for _, format := range []string{"text", "json"} {
					_, out, errs := run(fmt.Sprintf(head, status)+fmt.Sprintf(body, key, "key="+key), "explain", "-d", f.Name, "-o", format)
					if at := canary.Keys(out + errs); at != "" {
						t.Fatalf("%s, %s, %s: …%s…", f.Name, status, body, at)
					}
				}
			}
		}
	}
}

// TestKeysInFilesAreNotPrinted: a key does not belong in a policy; who writes one there is not to read it in a log.
func TestKeysInFilesAreNotPrinted(t *testing.T) {
	key := canary.Key("written")
	policy := "apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: a, namespace: b}\nspec: {providers: [{name: openai, %s}]}\n"
	for name, text := range map[string]string{
		"a URL's user":       fmt.Sprintf(policy, "baseURL: 'https://u:"+key+"@api.openai.com'"),
		"a URL's query":      fmt.Sprintf(policy, "baseURL: 'https://api.openai.com/?key="+key+"'"),
		"a key for its name": fmt.Sprintf(policy, "credentialKey: '"+key+"'"),
		"an unknown field":   fmt.Sprintf(policy, "apiKey: '"+key+"'"),
		"no YAML":            "apiKey: [" + key + "\n",
		"another kind":       "kind: Secret\nstringData: {a: " + key + "}\n",
		"another type":       fmt.Sprintf(policy, "limits: '"+key+"'"),
	} {
		t.Run(name, func(t *testing.T) {
			if code, out, errs := run(text, "explain", "policy", "-"); code == 0 || canary.Keys(out+errs) != "" {
				t.Errorf("status %d\n%s%s", code, out, errs)
			}
		})
	}
}

// TestExitStatus: what each kind of run ends with, and what it says where.
func TestExitStatus(t *testing.T) {
	good := filepath.Join("..", "..", "config", "samples", "01-smallest.yaml")
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("kind: Secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	invalid := "apiVersion: headgate.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: a}\nspec: {providers: [{name: generic}]}\n"
	list := "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: headgate.dev/v1alpha1, kind: RateLimitPolicy, metadata: {name: a, namespace: team-x}, spec: {providers: [{name: openai}]}}\n" +
		"- {apiVersion: headgate.dev/v1alpha1, kind: RateLimitPolicy, metadata: {name: a, namespace: team-y}, spec: {providers: [{name: openai}]}}\n"
	cases := map[string]struct {
		in        string
		args      []string
		code      int
		out, errs string
	}{
		"nothing":                 {"", nil, 2, "", "give a command"},
		"an unknown command":      {"", []string{"top"}, 2, "", `unknown command "top"`},
		"version":                 {"", []string{"version"}, 0, "kubectl-headgate dev", ""},
		"help":                    {"", []string{"--help"}, 0, "Usage:", ""},
		"help on explain":         {"", []string{"help", "explain"}, 0, "GitHubModels (github-models)", ""},
		"explain --help":          {"", []string{"explain", "--help"}, 0, "--received-at", ""},
		"help on policy":          {"", []string{"explain", "policy", "-h"}, 0, "FILE...", ""},
		"help on nothing":         {"", []string{"help", "x"}, 2, "", `no help on "x"`},
		"no dialect":              {throttled, []string{"explain"}, 2, "", "--dialect is required"},
		"an unknown dialect":      {throttled, []string{"explain", "-d", "nobody"}, 2, "", "want one of OpenAI"},
		"an unknown flag":         {throttled, []string{"explain", "--color"}, 2, "", "color"},
		"an unknown format":       {throttled, []string{"explain", "-d", "openai", "-o", "yaml"}, 2, "", "want text or json"},
		"a wrong time":            {throttled, []string{"explain", "-d", "openai", "-r", "noon"}, 2, "", "want a time such as"},
		"a file as an argument":   {throttled, []string{"explain", "-d", "openai", "response.http"}, 2, "", "standard input"},
		"no response":             {"", []string{"explain", "-d", "openai"}, 1, "", "no response"},
		"no status line":          {"{}", []string{"explain", "-d", "openai"}, 1, "", "no status line"},
		"text":                    {throttled, []string{"explain", "-d", "openai"}, 0, "Retry-After in seconds", ""},
		"a policy":                {"", []string{"explain", "policy", good}, 0, "governs", ""},
		"no policy":               {"", []string{"explain", "policy"}, 2, "", "give a file"},
		"no such file":            {"", []string{"explain", "policy", "none.yaml"}, 1, "", "none.yaml: no such file"},
		"another kind":            {"", []string{"explain", "policy", bad}, 1, "", "RateLimitPolicy and ProviderAccount are read"},
		"an invalid policy":       {invalid, []string{"explain", "policy", "-"}, 1, "spec.providers[0].baseURL", ""},
		"what kubectl get prints": {list, []string{"explain", "policy", "-"}, 0, "Policy team-y/a governs", ""},
		"an empty list":           {"kind: List\nitems: []\n", []string{"explain", "policy", "-"}, 1, "", "standard input: no RateLimitPolicy"},
		"a good one after it":     {invalid, []string{"explain", "policy", "-", good}, 1, "governs", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			code, out, errs := run(tc.in, tc.args...)
			if code != tc.code || !strings.Contains(out, tc.out) || !strings.Contains(errs, tc.errs) || tc.errs == "" && errs != "" {
				t.Errorf("status %d, want %d\nout: %s\nerrors: %s", code, tc.code, out, errs)
			}
		})
	}
}

// TestEveryDialectByEveryName: the API's name, the route and the aliases, in any case.
func TestEveryDialectByEveryName(t *testing.T) {
	for _, f := range facts.All() {
		for _, name := range append([]string{f.Name, f.Route, strings.ToUpper(f.Name)}, f.Aliases...) {
			code, out, errs := run(throttled, "explain", "-o", "json", "--dialect="+name)
			var got explain.Expectation
			if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || got.Class == "" {
				t.Errorf("%s: status %d, %v, %s%s", name, code, err, out, errs)
			}
		}
	}
}

// TestTheResponsesOwnDateIsNow: a response that was kept is explained as of its own time.
func TestTheResponsesOwnDateIsNow(t *testing.T) {
	old := "HTTP/1.1 429 X\nDate: Mon, 01 Jun 2026 08:00:00 GMT\nRetry-After: 9\n\n"
	if _, out, _ := run(old, "explain", "-d", "openai"); !strings.Contains(out, "between 08:00:09.000") {
		t.Error(out)
	}
	if _, out, _ := run(old, "explain", "-d", "openai", "-r", "2026-06-01T08:00:10Z"); !strings.Contains(out, "between 08:00:19.000") || !strings.Contains(out, "10s before the time of receipt") {
		t.Error(out)
	}
	if _, out, _ := run(throttled, "explain", "-d", "openai"); !strings.Contains(out, "between 12:00:09.000") {
		t.Error(out)
	}
}

// TestHelpNamesEveryDialect, so that nobody must look elsewhere.
func TestHelpNamesEveryDialect(t *testing.T) {
	_, out, _ := run("", "help", "explain")
	for _, f := range facts.All() {
		if !strings.Contains(out, " "+f.Name) {
			t.Errorf("%s is missing", f.Name)
		}
	}
	for line := range strings.Lines(out) {
		if len(line) > 121 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
}

// TestTheProcess is what runs: version and exit status of the real command.
func TestTheProcess(t *testing.T) {
	binary := build(t)
	process := func(args ...string) (string, int) {
		cmd := execCommand(t, binary, args...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := process("version"); out != "kubectl-headgate v9\n" || code != 0 {
		t.Errorf("%q, status %d", out, code)
	}
	if out, code := process("nonsense"); code != 2 {
		t.Errorf("%q, status %d", out, code)
	}
}
