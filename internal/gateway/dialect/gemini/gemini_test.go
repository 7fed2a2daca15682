// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package gemini

import (
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/google"
)

// TestOperations: every spelling of a path that the provider takes for a method of a model is one.
func TestOperations(t *testing.T) {
	generate := func(model string, stream bool) dialect.Operation {
		return dialect.Operation{Name: "generate", Format: dialect.FormatGenerate, Metered: true, Model: model, Stream: stream}
	}
	embeddings := dialect.Operation{Name: "embeddings", Format: dialect.FormatGenerate, Metered: true, Model: "gemini-embedding-001"}
	other, free := dialect.Operation{Name: "other"}, dialect.Operation{Name: "other", Free: true}
	long := strings.Repeat("m", 5000)
	cases := []struct {
		method, path string
		want         dialect.Operation
	}{
		{"POST", "/v1beta/models/gemini-2.5-flash:generateContent", generate("gemini-2.5-flash", false)},
		{"POST", "/v1/models/gemini-2.5-flash:generateContent", generate("gemini-2.5-flash", false)},
		{"POST", "/models/gemini-2.5-flash:generateContent", generate("gemini-2.5-flash", false)},
		{"POST", "//v1beta//models/gemini-2.5-flash:generateContent/", generate("gemini-2.5-flash", false)},
		{"POST", "/v1beta/models/gemini-2.5-flash%3AgenerateContent", generate("gemini-2.5-flash", false)},
		{"POST", "/v1beta/models/gemini-2.5-flash:%73treamGenerateContent", generate("gemini-2.5-flash", true)},
		{"POST", "/v1beta/tunedModels/mine-x1:streamGenerateContent", generate("mine-x1", true)},
		{"POST", "/v1beta/models/" + long + ":generateContent", generate(long[:google.MaxModel], false)},
		{"POST", "/v1beta/models/gemini-embedding-001:embedContent", embeddings},
		{"POST", "/v1beta/models/gemini-embedding-001:batchEmbedContents", embeddings},
		{"POST", "/v1beta/models/gemini-2.5-flash:countTokens", dialect.Operation{Name: "other", Free: true, Model: "gemini-2.5-flash"}},
		{"POST", "/v1beta/models/imagen-4:predict", dialect.Operation{Name: "other", Model: "imagen-4"}},
		{"POST", "/v1beta/models/gemini-2.5-flash", other},
		{"POST", "/v1beta/models/a/b:generateContent", other},
		{"POST", "/v1beta/models", other},
		{"GET", "/v1beta/models", free},
		{"GET", "/v1beta/models/gemini-2.5-flash", free},
		{"DELETE", "/v1beta/tunedModels/mine", other},
		{"POST", "/v1beta/interactions", other},
		{"POST", "/v1beta/cachedContents", other},
		{"POST", "/upload/v1beta/files", other},
		{"POST", "/v1beta/openai/chat/completions", dialect.Operation{Name: "chat", Format: dialect.FormatChat, Metered: true}},
		{"POST", "/openai/chat/completions", dialect.Operation{Name: "chat", Format: dialect.FormatChat, Metered: true}},
		{"POST", "/v1beta/openai/embeddings", dialect.Operation{Name: "embeddings", Format: dialect.FormatChat, Metered: true}},
		{"GET", "/v1beta/openai/models", free},
		{"GET", "/", other},
	}
	for _, tc := range cases {
		if got := (Dialect{}).Operation(tc.method, tc.path); got != tc.want {
			t.Errorf("%s %.60s: %+v, want %+v", tc.method, tc.path, got, tc.want)
		}
	}
}

// TestPaths: the version stands once, and the key's parameter is no part of it.
func TestPaths(t *testing.T) {
	for path, want := range map[string]string{
		"/models/m:generateContent":               "/v1beta/models/m:generateContent",
		"/v1beta/v1beta/models/m:generateContent": "/v1beta/models/m:generateContent",
		"/v1alpha/models/m:generateContent":       "/v1alpha/models/m:generateContent",
		"/upload/v1beta/files":                    "/upload/v1beta/files",
		"/openai/chat/completions":                "/v1beta/openai/chat/completions",
		"/chat/completions":                       "/v1beta/openai/chat/completions",
		"/v1/chat/completions":                    "/v1beta/openai/chat/completions",
		"/v1beta/openai/embeddings":               "/v1beta/openai/embeddings",
		"/v1/models/m:generateContent":            "/v1/models/m:generateContent",
		"/":                                       "/",
	} {
		if got := (Dialect{}).Path(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// FuzzPath: no path makes a long name, nor an operation that is metered and free.
func FuzzPath(f *testing.F) {
	f.Add("POST", "/v1beta/models/a%2Fb:generateContent")
	f.Add("GET", "/v1beta/models/%zz")
	f.Add("POST", "/v1beta/openai/chat/completions")
	f.Fuzz(func(t *testing.T, method, path string) {
		op := Dialect{}.Operation(method, path)
		if len(op.Model) > google.MaxModel || op.Metered && (op.Free || op.Format == "") || op.Name == "" {
			t.Errorf("%+v", op)
		}
	})
}
