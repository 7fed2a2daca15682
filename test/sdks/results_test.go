// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// result is what a run showed of an SDK, without what differs from run to run.
type result struct {
	SDK      string
	Version  string
	Language string
	BaseURL  string
	// Call, Stream, Waited and Abort are as they must be, or the test has failed.
	Call   string
	Stream string
	Waited string
	// Declined and Refused are the error that the SDK raised, and what more there is to say.
	Declined string
	Refused  string
	Abort    string
	// OwnRetries are those that the SDK makes beside the gateway's, and Setting what stops them.
	OwnRetries string
	Setting    string `json:",omitempty"`
}

var (
	resultsFile = filepath.Join("testdata", "matrix.json")
	document    = filepath.Join("..", "..", "docs", "sdks.md")
)

// compare holds the run to the results that the table in the document is made of, or writes both.
func compare(t *testing.T, got map[string]result) {
	t.Helper()
	if *update {
		if len(got) != len(all) {
			t.Fatal("-update needs the whole matrix")
		}
		write(t, got)
	}
	want := map[string]result{}
	for _, r := range read(t) {
		want[r.SDK] = r
	}
	for name, r := range got {
		if diff := cmp.Diff(want[name], r); diff != "" {
			t.Errorf("%s is not what %s says; run go test ./test/sdks -update and read the diff (-file +run):\n%s", name, resultsFile, diff)
		}
	}
	if len(got) == len(all) && len(want) != len(got) {
		t.Errorf("%s has %d SDKs, the matrix %d", resultsFile, len(want), len(got))
	}
}

func read(t *testing.T) []result {
	t.Helper()
	raw, err := os.ReadFile(resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	var out []result
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, got map[string]result) {
	t.Helper()
	rows := make([]result, 0, len(all))
	for _, s := range all {
		rows = append(rows, got[s.name])
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(resultsFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(document, withTable(t, text, rows), 0o644); err != nil {
		t.Fatal(err)
	}
}
