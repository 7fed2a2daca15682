// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package estimates

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheTokenizerIsLinkedWithItsTagOnly: it is as large as the gateway.
func TestTheTokenizerIsLinkedWithItsTagOnly(t *testing.T) {
	for tags, want := range map[string]bool{"": false, "tokenizer": true} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tags, "./cmd/gateway")
		cmd.Dir = "../../.."
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, module := range []string{"github.com/tiktoken-go/tokenizer", "github.com/dlclark/regexp2"} {
			if got := strings.Contains(string(out), module); got != want {
				t.Errorf("tags %q: %s is linked: %v, want %v", tags, module, got, want)
			}
		}
	}
}
