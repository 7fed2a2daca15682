// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/testing/canary"
)

// search is what has everything that a package's tests have the system write searched, and what of it is marked.
type search struct {
	by string
	// keys and prompts say which marks its tests must use: a search for marks that nobody wrote finds none.
	keys, prompts bool
	// also is a further thing that is searched for there.
	also string
}

// searched are the packages whose tests run a part of the system that meets keys, tokens, passwords or prompts.
var searched = map[string]search{
	"cmd/kubectl-headgate":                 {by: "shown.Run(m)", keys: true},
	"internal/budgetstore/redisstore":      {by: "shown.Over(m)", keys: true, also: "redisserver.TellAll("},
	"internal/controller":                  {by: "shown.Run(m)", keys: true},
	"internal/coordinator":                 {by: "shown.Run(m)", keys: true},
	"internal/gateway/deferred":            {by: "watch.Over(m)", keys: true, prompts: true},
	"internal/gateway/deferred/redisstore": {by: "shown.Over(m)", keys: true, also: "redisserver.TellAll("},
	"internal/gateway/deferred/storetest":  {by: canary.PromptMark, prompts: true},
	"internal/gateway/proxy":               {by: "shown.Over(m)", keys: true, prompts: true},
	"internal/gateway/server":              {by: "shown.Over(m)", keys: true, prompts: true, also: "TestPanicsAreToldWithoutWhatWasInHand"},
	"internal/manager":                     {by: "shown.Run(m)", keys: true},
	"internal/testing/dataplane":           {by: "keptSecrets(g.written())", keys: true, prompts: true},
	"internal/testing/controlplane":        {by: "AppKey = canary.Key(", keys: true},
	"internal/testing/redisserver":         {by: "s.tell()", keys: true},
	"internal/webhook":                     {by: "shown.Run(m)", keys: true},
	"test/dataplane":                       {by: "dataplane.Main(m, ", keys: true, prompts: true, also: "TestTracesOfACrashShowNoKeyAndNoPrompt"},
	"test/deferral":                        {by: "shown.Leaks(", keys: true, prompts: true},
	"test/e2e":                             {by: "TestKeysAndPromptsAreNeverShown", keys: true, prompts: true},
	"test/exits":                           {by: "dataplane.Main(m, ", keys: true, prompts: true},
	"test/hostile":                         {by: "dataplane.Main(m, ", keys: true, prompts: true},
}

// marks are the ways in which tests write them.
var (
	keyMarks    = []string{"controlplane.", "n.key", canary.KeyMark, "canary.Key(", "canary.KeyMark", "redisserver.Password"}
	promptMarks = []string{"promptText", canary.PromptMark, "canary.Prompt(", "canary.PromptMark", "marked("}
)

// TestEverythingWrittenDuringTestsIsSearched: a package that is no more searched, or marks nothing any more, says nothing when it
// leaks.
func TestEverythingWrittenDuringTestsIsSearched(t *testing.T) {
	for dir, want := range searched {
		text := sources(t, dir)
		if !strings.Contains(text, want.by) || !strings.Contains(text, want.also) {
			t.Errorf("%s: nothing there has %q and %q", dir, want.by, want.also)
		}
		if want.keys && !containsAny(text, keyMarks) {
			t.Errorf("%s: no key there is marked", dir)
		}
		if want.prompts && !containsAny(text, promptMarks) {
			t.Errorf("%s: no prompt there is marked", dir)
		}
	}
}

// TestWhoeverMarksSearches: a package whose tests have a log of the system's, and is in no list, would not be missed.
func TestWhoeverMarksSearches(t *testing.T) {
	for _, dir := range []string{"cmd/*", "internal/*", "internal/gateway/*", "internal/gateway/deferred/*", "internal/budgetstore/*", "test/*"} {
		dirs, err := filepath.Glob(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			name := strings.TrimPrefix(filepath.ToSlash(d), root+"/")
			watches := strings.Contains(sources(t, name), "canary.Watch")
			if _, listed := searched[name]; watches && !listed && name != "test/security" {
				t.Errorf("%s searches, and nothing demands that it goes on", name)
			}
		}
	}
}

// sources are a package's files, one after another.
func sources(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}

func containsAny(text string, marks []string) bool {
	for _, s := range marks {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
