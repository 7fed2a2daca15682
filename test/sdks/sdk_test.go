// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/inject"
	"github.com/headgate-dev/headgate/internal/sidecar"
	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// sdk is one row of the matrix.
type sdk struct {
	name string
	// packages are what an app installs: of npm, or Go modules.
	packages []string
	// npm is the module in npm/sdks, and goApp the name in goSDKs; one of them.
	npm, goApp string
	dialect    fakeprovider.Dialect
	model      string
	// key is the variable of the API key.
	key string
	// variable is the one that injection sets for it; empty if it reads none, or none that injection may set.
	variable string
	// byHand are the variables, and inCode the options, that an app sets itself where variable is empty, given
	// the address of its route; documented is how its user reads that.
	byHand     func(route string) map[string]string
	inCode     func(route string) map[string]any
	documented string
	// setting stops the SDK's own retries, where it does not obey x-should-retry; off is the same as options.
	setting string
	off     map[string]any
	// unguided says that its provider never states a wait.
	unguided bool
}

var all = []sdk{
	{
		name: "openai", packages: []string{"openai"}, npm: "openai",
		dialect: fakeprovider.OpenAI, model: "gpt-4.1", key: "OPENAI_API_KEY", variable: "OPENAI_BASE_URL",
	},
	{
		name: "@anthropic-ai/sdk", packages: []string{"@anthropic-ai/sdk"}, npm: "anthropic",
		dialect: fakeprovider.Anthropic, model: "claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", variable: "ANTHROPIC_BASE_URL",
	},
	{
		name: "ai, with @ai-sdk/openai", packages: []string{"ai", "@ai-sdk/openai"}, npm: "vercel-openai",
		dialect: fakeprovider.OpenAI, model: "gpt-4.1", key: "OPENAI_API_KEY", variable: "OPENAI_BASE_URL",
		setting: "`maxRetries: 0` in each call", off: map[string]any{"maxRetries": 0},
	},
	{
		name: "ai, with @ai-sdk/anthropic", packages: []string{"ai", "@ai-sdk/anthropic"}, npm: "vercel-anthropic",
		dialect: fakeprovider.Anthropic, model: "claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", variable: "ANTHROPIC_BASE_URL",
		setting: "`maxRetries: 0` in each call", off: map[string]any{"maxRetries": 0},
	},
	{
		name: "@langchain/openai", packages: []string{"@langchain/openai", "@langchain/core"}, npm: "langchain-openai",
		dialect: fakeprovider.OpenAI, model: "gpt-4.1", key: "OPENAI_API_KEY", variable: "OPENAI_BASE_URL",
		setting: "`maxRetries: 0` in the model's options", off: map[string]any{"maxRetries": 0},
	},
	{
		name: "openai-go", packages: []string{"github.com/openai/openai-go/v3"}, goApp: "openai-go",
		dialect: fakeprovider.OpenAI, model: "gpt-4.1", key: "OPENAI_API_KEY", variable: "OPENAI_BASE_URL",
	},
	{
		name: "anthropic-sdk-go", packages: []string{"github.com/anthropics/anthropic-sdk-go"}, goApp: "anthropic-sdk-go",
		dialect: fakeprovider.Anthropic, model: "claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", variable: "ANTHROPIC_BASE_URL",
	},
}

// route is the path of the built-in route.
func (s sdk) route() string { return strings.ToLower(string(s.dialect)) }

// start runs an app of the SDK with the environment that injection gives it, at the address of g.
func (s sdk) start(t testing.TB, g *dataplane.Gateway) *app {
	t.Helper()
	if s.npm != "" {
		cmd := exec.Command(node(t), "runner.mjs", s.npm)
		cmd.Dir = npmFolder
		return s.startIn(t, g, cmd)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(cmd.Env, goApp+"="+s.goApp)
	return s.startIn(t, g, cmd)
}

func (s sdk) startIn(t testing.TB, g *dataplane.Gateway, cmd *exec.Cmd) *app {
	t.Helper()
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir())
	for name, value := range injected(g) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if s.byHand != nil {
		for name, value := range s.byHand(g.URL + "/" + s.route()) {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return startApp(t, cmd)
}

// injected are the variables of an injected pod, with the address of g for the sidecar's.
func injected(g *dataplane.Gateway) map[string]string {
	env := inject.EnvData()
	for name, value := range env {
		env[name] = strings.Replace(value, "http://"+sidecar.DataAddress, g.URL, 1)
	}
	return env
}

// TestVariablesOfTheMatrixAreThoseInjected keeps the table of SDKs and the facts of the dialects together.
func TestVariablesOfTheMatrixAreThoseInjected(t *testing.T) {
	for _, s := range all {
		facts, ok := dialect.ByName(string(s.dialect))
		if !ok || facts.Route != s.route() {
			t.Errorf("%s: there is no dialect %s", s.name, s.dialect)
		}
		_, set := inject.EnvData()[s.variable]
		if set != (s.variable != "") {
			t.Errorf("%s: %s is injected: %t", s.name, s.variable, set)
		}
		if (s.variable == "") != (s.documented != "") || (s.variable == "") != (s.byHand != nil || s.inCode != nil) {
			t.Errorf("%s: it needs either a variable or what an app does by hand", s.name)
		}
	}
}

// versions are the versions of the SDK's packages as they are installed.
func (s sdk) versions(t testing.TB) string {
	t.Helper()
	var out []string
	for _, name := range s.packages {
		version := ""
		if s.npm != "" {
			version = npmVersions(t)[name]
		} else {
			raw, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", name).Output()
			if err != nil {
				t.Fatalf("the version of %s: %v", name, err)
			}
			version = strings.TrimPrefix(strings.TrimSpace(string(raw)), "v")
		}
		if version == "" {
			t.Fatalf("%s has no version", name)
		}
		out = append(out, version)
	}
	return strings.Join(out, ", ")
}
