// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// The table stands between these lines of the document; the rest of it is written by hand.
const (
	tableBegins = "<!-- The table is written by go test ./test/sdks -update. -->\n"
	tableEnds   = "<!-- End of the table. -->\n"
)

// TestDocumentHasTheTableOfTheRun: TestA6AndA17AndD16Matrix holds the same results to the run.
func TestDocumentHasTheTableOfTheRun(t *testing.T) {
	if *update {
		return // TestA6AndA17AndD16Matrix writes both
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(withTable(t, text, read(t))), string(text)); diff != "" {
		t.Errorf("%s differs from %s; run go test ./test/sdks -update (-results +document):\n%s", document, resultsFile, diff)
	}
}

// withTable puts the table of the results into the document.
func withTable(t *testing.T, text []byte, rows []result) []byte {
	t.Helper()
	before, rest, began := bytes.Cut(text, []byte(tableBegins))
	_, after, ended := bytes.Cut(rest, []byte(tableEnds))
	if !began || !ended {
		t.Fatalf("%s lacks the lines %q and %q", document, tableBegins, tableEnds)
	}
	return bytes.Join([][]byte{before, []byte(tableBegins), []byte(table(rows)), []byte(tableEnds), after}, nil)
}

var columns = []string{
	"SDK", "Version", "Base URL", "Call", "Stream", "429 waited out", "429 declined", "Refused by the gateway", "Stream left", "Retries of its own", "Setting needed",
}

func table(rows []result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join([]string{
			fmt.Sprintf("%s (%s)", r.SDK, r.Language), r.Version, r.BaseURL, r.Call, r.Stream, r.Waited, code(r.Declined), code(r.Refused), r.Abort,
			r.OwnRetries, cmp.Or(r.Setting, "none"),
		}, " | "))
	}
	return b.String()
}

// code sets the type of an error apart.
func code(s string) string {
	name, rest, _ := strings.Cut(s, ", ")
	return "`" + name + "`, " + rest
}
