// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"
	"time"
)

// What is wrong with a file is said in a text that can be read, however much is wrong and however long it is.
func TestDecodeIsBoundedInWhatItReadsAndSays(t *testing.T) {
	head := strings.Split(smallest, "spec:")[0]
	long := strings.Repeat("x", 900_000)
	for name, tc := range map[string]struct{ file, want string }{
		"a text that aliases repeat": {"a: &a " + long[:100_000] + "\nb: [" + strings.Repeat("*a, ", 20_000) + "]\n", "its aliases make it larger"},
		"a long kind":                {"apiVersion: headgate.dev/v1alpha1\nkind: " + long + "\n", "document 1"},
		"a long value":               {head + "spec: {mode: " + long + ", providers: [{name: openai}]}", "spec.mode: Too long"},
		"a long field":               {head + "spec:\n  ? " + long + "\n  : 1\n", "document 1"},
		"many empty texts":           {head + "spec: {providers: [" + strings.Repeat("{name: \"\"}, ", 60_000) + "]}", "more lines"},
		"many wrong amounts":         {head + "spec: {providers: [{name: openai, limits: [" + strings.Repeat("{amount: x}, ", 60_000) + "]}]}", "limits[0].amount"},
		"not UTF-8":                  {"kind: \"" + strings.Repeat("\\xff", 100_000) + "\"\n", "document 1"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Decode([]byte(tc.file))
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > maxErrorText+100 {
				t.Errorf("Decode = %.300v of %d bytes, want an error with %q", err, len(err.Error()), tc.want)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
