// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package meter

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// FuzzHeaders: a provider's headers count what they say as plain numbers of tokens, and anything else counts nothing.
func FuzzHeaders(f *testing.F) {
	f.Add("12", "3", "1", "0")
	f.Add("-1", "+1", "1e3", "0x1")
	f.Add("18446744073709551615", "9223372036854775807", "9999999999999", " 7 ")
	f.Add("", "NaN", "1_0", "１")
	f.Fuzz(func(t *testing.T, input, output, read, write string) {
		h := http.Header{
			"Content-Type":                                 {typeJSON},
			"X-Amzn-Bedrock-Input-Token-Count":             {input},
			"X-Amzn-Bedrock-Output-Token-Count":            {output},
			"X-Amzn-Bedrock-Cache-Read-Input-Token-Count":  {read},
			"X-Amzn-Bedrock-Cache-Write-Input-Token-Count": {write},
			"X-Prompt-Tokens":                              {input},
			"X-Generated-Tokens":                           {output},
		}
		for _, format := range []dialect.Format{dialect.FormatInvoke, dialect.FormatTGI} {
			m := New(dialect.Operation{Format: format}, h.Clone(), dialect.MeterOptions{}, testClass)
			m.Write([]byte("{}"))
			m.Close()
			u := m.Usage()
			for text, got := range map[string]int64{input: u.Input, output: u.Output} {
				if got < -1 || got > maxTokens || m.OutputSoFar() < 0 || u.ChargedInput(true) < -1 {
					t.Errorf("%q counts %d: %+v", text, got, u)
				}
				n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				if plain := err == nil && n >= 0 && n <= maxTokens && !strings.HasPrefix(strings.TrimSpace(text), "+") && input != output; plain && text != "" && got != n && strings.TrimSpace(text) != "-0" {
					t.Errorf("%q counts %d", text, got)
				}
			}
		}
	})
}
