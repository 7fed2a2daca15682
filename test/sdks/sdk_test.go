// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"os"
	"os/exec"
	"strings"
	"testing"

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
	// counted is what the gateway counts its own retries as; empty if no header of theirs tells.
	counted string
	// unguided says that its provider never states a wait.
	unguided bool
}

var all = []sdk{
	{
		name: "openai", packages: []string{"openai"}, npm: "openai", counted: "openai-node",
		dialect: fakeprovider.OpenAI, model: "gpt-4.1", key: "OPENAI_API_KEY", variable: "OPENAI_BASE_URL",
	},
	{
		name: "openai, AzureOpenAI", packages: []string{"openai"}, npm: "azure-openai", counted: "stainless-node",
		dialect: fakeprovider.AzureOpenAI, model: "gpt-4.1", key: "AZURE_OPENAI_API_KEY",
		byHand: func(route string) map[string]string {
			return map[string]string{"AZURE_OPENAI_ENDPOINT": route, "OPENAI_API_VERSION": "2024-10-21"}
		},
		documented: "`AZURE_OPENAI_ENDPOINT`, set by the app",
	},
	{
		name: "@anthropic-ai/sdk", packages: []string{"@anthropic-ai/sdk"}, npm: "anthropic", counted: "anthropic-node",
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
		name: "@google/genai", packages: []string{"@google/genai"}, npm: "google-genai",
		dialect: fakeprovider.Gemini, model: "gemini-2.5-flash", key: "GEMINI_API_KEY", variable: "GOOGLE_GEMINI_BASE_URL",
	},
	{
		name: "@mistralai/mistralai", packages: []string{"@mistralai/mistralai"}, npm: "mistral",
		dialect: fakeprovider.Mistral, model: "mistral-small-latest", key: "MISTRAL_API_KEY", unguided: true,
		inCode:     func(route string) map[string]any { return map[string]any{"serverURL": route} },
		documented: "none; `serverURL` in code",
	},
	{
		name: "openai-go", packages: []string{"github.com/openai/openai-go/v3"}, goApp: "openai-go", counted: "openai-go",
		dialect: fakeprovider.OpenAI, model: "gpt-4.1", key: "OPENAI_API_KEY", variable: "OPENAI_BASE_URL",
	},
	{
		name: "anthropic-sdk-go", packages: []string{"github.com/anthropics/anthropic-sdk-go"}, goApp: "anthropic-sdk-go", counted: "anthropic-go",
		dialect: fakeprovider.Anthropic, model: "claude-sonnet-4-5", key: "ANTHROPIC_API_KEY", variable: "ANTHROPIC_BASE_URL",
	},
	{
		name: "google.golang.org/genai", packages: []string{"google.golang.org/genai"}, goApp: "genai",
		dialect: fakeprovider.Gemini, model: "gemini-2.5-flash", key: "GEMINI_API_KEY", variable: "GOOGLE_GEMINI_BASE_URL",
	},
	{
		name: "aws-sdk-go-v2 bedrockruntime", packages: []string{"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"}, goApp: "bedrockruntime", counted: "aws",
		dialect: fakeprovider.Bedrock, model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", key: bedrockKey, unguided: true,
		byHand: func(route string) map[string]string {
			return map[string]string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": route, "AWS_REGION": "eu-central-1"}
		},
		documented: "`AWS_ENDPOINT_URL_BEDROCK_RUNTIME`, set by the app",
		setting:    "`aws.NopRetryer{}`, or `AWS_MAX_ATTEMPTS=1`", off: map[string]any{"retryer": "NopRetryer"},
	},
}

// route is the path of the built-in route.
func (s sdk) route() string { return strings.ToLower(string(s.dialect)) }

// start runs an app of the SDK with the environment that injection gives it, at the address of g.
func (s sdk) start(t *testing.T, g *dataplane.Gateway) *app {
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

func (s sdk) startIn(t *testing.T, g *dataplane.Gateway, cmd *exec.Cmd) *app {
	t.Helper()
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir())
	for name, value := range s.environment(t, g) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return startApp(t, cmd)
}

// versions are the versions of the SDK's packages as they are installed.
func (s sdk) versions(t *testing.T) string {
	t.Helper()
	var out []string
	for _, name := range s.packages {
		version := npmVersions(t)[name]
		if s.goApp != "" {
			version = moduleVersion(t, name)
		}
		if version == "" {
			t.Fatalf("%s has no version", name)
		}
		out = append(out, version)
	}
	return strings.Join(out, ", ")
}

func moduleVersion(t *testing.T, path string) string {
	t.Helper()
	raw, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", path).Output()
	if err != nil {
		t.Fatalf("the version of %s: %v", path, err)
	}
	return strings.TrimPrefix(strings.TrimSpace(string(raw)), "v")
}
