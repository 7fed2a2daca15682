// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package vertexai

import (
	"net/http"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/google"
)

// TestOperations: behind a project and a location or behind neither, of each publisher that is metered.
func TestOperations(t *testing.T) {
	const at = "/v1/projects/p/locations/us-central1"
	of := func(name string, format dialect.Format, model string, stream bool) dialect.Operation {
		return dialect.Operation{Name: name, Format: format, Metered: true, Model: model, Stream: stream}
	}
	generate, messages, chat := dialect.FormatGenerate, dialect.FormatMessages, dialect.FormatChat
	other, free := dialect.Operation{Name: "other"}, dialect.Operation{Name: "other", Free: true}
	cases := []struct {
		method, path string
		want         dialect.Operation
	}{
		{"POST", at + "/publishers/google/models/gemini-2.5-pro:generateContent", of("generate", generate, "gemini-2.5-pro", false)},
		{"POST", "/v1beta1/projects/p/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent", of("generate", generate, "gemini-2.5-pro", true)},
		{"POST", "/v1beta1/publishers/google/models/gemini-2.5-pro:generateContent", of("generate", generate, "gemini-2.5-pro", false)},
		{"POST", "/publishers/google/models/gemini-2.5-pro:generateContent", of("generate", generate, "gemini-2.5-pro", false)},
		{"POST", at + "/endpoints/4711:generateContent", of("generate", generate, "4711", false)},
		{"POST", at + "/publishers/google/models/gemini-embedding-001:embedContent", of("embeddings", generate, "gemini-embedding-001", false)},
		{"POST", at + "/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict", of("messages", messages, "claude-sonnet-4-5@20250929", false)},
		{"POST", at + "/publishers/anthropic/models/claude-sonnet-4-5%4020250929:streamRawPredict", of("messages", messages, "claude-sonnet-4-5@20250929", true)},
		{"POST", at + "/publishers/mistralai/models/mistral-medium-3:streamRawPredict", of("generate", chat, "mistral-medium-3", true)},
		{"POST", at + "/endpoints/openapi/chat/completions", of("chat", chat, "", false)},
		{"POST", at + "/publishers/anthropic/models/count-tokens:rawPredict", dialect.Operation{Name: "other", Free: true, Model: "count-tokens"}},
		{"POST", at + "/publishers/google/models/gemini-2.5-pro:countTokens", dialect.Operation{Name: "other", Free: true, Model: "gemini-2.5-pro"}},
		{"POST", at + "/publishers/google/models/imagen-4:predict", dialect.Operation{Name: "other", Model: "imagen-4"}},
		{"POST", at + "/publishers/nobody/models/m:rawPredict", dialect.Operation{Name: "other", Model: "m"}},
		{"GET", at + "/publishers/google/models/gemini-2.5-pro", free},
		{"GET", at + "/endpoints/4711", other},
		{"POST", at + "/cachedContents", other},
		{"POST", at, other},
		{"POST", "/v1", other},
		{"POST", "/", other},
	}
	for _, tc := range cases {
		if got := (Dialect{}).Operation(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %s: %+v, want %+v", tc.method, tc.path, got, tc.want)
		}
	}
}

// TestB5OnlyOpenAIsAPIIsAskedForUsage: the others report it, or refuse the question.
func TestB5OnlyOpenAIsAPIIsAskedForUsage(t *testing.T) {
	const at = "/v1/projects/p/locations/global"
	for path, want := range map[string]bool{
		at + "/endpoints/openapi/chat/completions":                             true,
		at + "/publishers/mistralai/models/mistral-medium-3:streamRawPredict":  false,
		at + "/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict": false,
		at + "/publishers/google/models/gemini-2.5-pro:streamGenerateContent":  false,
	} {
		d := Dialect{}
		if _, ok := d.InjectUsage(d.Operation(http.MethodPost, path), []byte(`{"stream":true}`)); ok != want {
			t.Errorf("%s: %v", path, ok)
		}
	}
}

// FuzzPath: no path makes a long name, nor an operation that is metered and free.
func FuzzPath(f *testing.F) {
	f.Add("POST", "/v1/projects/p/locations/l/publishers/google/models/m:generateContent")
	f.Add("POST", "/v1/projects/p/locations/l/endpoints/openapi/chat/completions")
	f.Add("GET", "/publishers//models/%3A")
	f.Fuzz(func(t *testing.T, method, path string) {
		op := Dialect{}.Operation(method, path)
		if len(op.Model) > google.MaxModel || op.Metered && (op.Free || op.Format == "") || op.Name == "" {
			t.Errorf("%+v", op)
		}
	})
}
