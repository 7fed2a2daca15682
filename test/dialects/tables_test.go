// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package dialects

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/fixtures"
)

func table(rows [][]string) string {
	var out strings.Builder
	for i, row := range rows {
		out.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			out.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return out.String()
}

func code(text string) string { return "`" + text + "`" }

var chargeWords = map[facts.Charges]string{
	facts.MaxAtAdmission:     "the largest the request allows, when it is admitted",
	facts.EstimateThenActual: "an estimate, then what it was",
	facts.AsProduced:         "as it is produced",
}

func overview() string {
	rows := [][]string{{"dialect", "name of the provider", "URL", "output is charged", "cached input", "a reset is the time until"}}
	for _, f := range facts.All() {
		names := []string{code(f.Route)}
		for _, alias := range f.Aliases {
			names = append(names, code(alias))
		}
		cached, reset := "counts", "a call can go"
		if f.CachedInputFree {
			cached = "is free"
		}
		if f.ResetMeans == facts.ResetFull {
			reset = "the bucket is full"
		}
		rows = append(rows, []string{"[" + f.Name + "](#" + f.Route + ")", strings.Join(names, ", "), baseURL(f), chargeWords[f.Charges], cached, reset})
	}
	return table(rows)
}

func baseURL(f facts.Facts) string {
	if f.DefaultBaseURL != "" {
		return code(f.DefaultBaseURL)
	}
	return "yours, as " + code(f.ExampleBaseURL)
}

func sdks() string {
	rows := [][]string{{"SDK", "with these dialects", "retries", "obeys `x-should-retry`", "longest stated wait it honours", "to switch its retries off"}}
	for _, s := range explain.SDKs() {
		names := strings.Join(s.Dialects, ", ")
		if len(s.Dialects) > 12 {
			names = "those of OpenAI's shape"
			if slices.Contains(s.Dialects, "Anthropic") {
				names = "nearly all"
			}
		}
		obeys := "no"
		if s.Obeys {
			obeys = "yes"
		}
		rows = append(rows, []string{s.Name, names, fmt.Sprint(s.Retries), obeys, s.Longest, s.Off})
	}
	return table(rows)
}

// part is the part of one dialect that follows from the code.
func part(f facts.Facts, file []fixtures.Fixture) string {
	d := registry.ByName(f.Name)
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, "- "+format+"\n", args...) }
	line("URL: %s. Apps call `http://%s/%s`.", baseURL(f), sidecar.DataAddress, f.Route)
	for _, v := range f.BaseURLVariables {
		line("%s", variable(f, v))
	}
	line("Credential: %s", strings.Join(credentials(d), " or "))
	line("Metered: %s", strings.Join(metered(d, file), ", "))
	if used := usage(d, file); len(used) > 0 {
		line("Usage: %s", strings.Join(used, "; "))
	}
	out.WriteString("\n")
	out.WriteString(budgets(d, file))
	out.WriteString(table(failures(d, file)))
	return out.String()
}

func variable(f facts.Facts, v facts.Variable) string {
	if v.ReadOnly {
		return fmt.Sprintf("%s is never set; where an app sets it, status says where its calls go.", code(v.Name))
	}
	text := fmt.Sprintf("Injection sets %s.", code(v.Name+"=http://"+sidecar.DataAddress+"/"+f.Route+v.Path))
	if len(v.Unless) > 0 {
		text += fmt.Sprintf(" Not beside `%s`.", strings.Join(v.Unless, "`, `"))
	}
	return text
}

// credentials are the places a key is put to, for each kind of key.
func credentials(d dialect.Dialect) (out []string) {
	seen := map[string]bool{}
	for _, key := range []string{"KEY", "eyJ.TOKEN.x", "ya29.TOKEN"} {
		h := http.Header{}
		d.SetCredential(h, "", key)
		for name, lines := range h {
			if !seen[name] {
				seen[name] = true
				text := strings.Replace(lines[0], key, map[bool]string{true: "KEY", false: "TOKEN"}[key == "KEY"], 1)
				out = append(out, code(strings.ToLower(name)+": "+text))
			}
		}
	}
	return out
}
