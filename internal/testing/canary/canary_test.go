// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package canary

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"testing"
)

// TestMarksAreFoundHoweverTheyAreWritten: whole or in part, and in the encodings that logs and headers use.
func TestMarksAreFoundHoweverTheyAreWritten(t *testing.T) {
	key := Key("of-the-app")
	for name, write := range map[string]func(string) string{
		"plain":          func(s string) string { return "x" + s + "y" },
		"quoted":         func(s string) string { return fmt.Sprintf("%q", s) },
		"JSON":           func(s string) string { return `{"k":` + strconv.Quote(s) + `}` },
		"a query":        func(s string) string { return url.Values{"key": {s}}.Encode() },
		"the first half": func(s string) string { return s[:len(s)/2] },
		"the last half":  func(s string) string { return s[len(s)/2:] },
		"base64":         func(s string) string { return base64.StdEncoding.EncodeToString([]byte("Basic:" + s)) },
		"base64 by one":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("a" + s)) },
		"base64 by two":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ab" + s + "more")) },
		"hexadecimal":    func(s string) string { return hex.EncodeToString([]byte(s)) },
	} {
		t.Run(name, func(t *testing.T) {
			if Keys(write(key)) == "" || Any(write(key)) == "" {
				t.Errorf("the key is not found in %s", write(key))
			}
			if Any(write(Prompt("hello"))) == "" || Keys(write(Prompt("hello"))) != "" {
				t.Errorf("the prompt is not found, or taken for a key, in %s", write(Prompt("hello")))
			}
		})
	}
	for _, text := range []string{"", "sk-…", "canary", `{"msg":"call","key":"sk-…"}`} {
		if at := Any(text); at != "" {
			t.Errorf("%q is found in %q", at, text)
		}
	}
}
