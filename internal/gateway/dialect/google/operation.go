// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package google

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

const (
	generate   = "generate"
	embeddings = "embeddings"
	other      = "other"
)

// MaxModel bounds a model's name that a path gives.
const MaxModel = 256

// Model is an escaped part of a path as a model's name.
func Model(escaped string) string {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		name = escaped
	}
	return name[:min(len(name), MaxModel)]
}

// Method says what a method of a model is ("gemini-2.5-flash:generateContent"), for a POST.
func Method(segment string) dialect.Operation {
	// The colon may be escaped, as some routers do.
	segment = strings.ReplaceAll(segment, "%3A", ":")
	i := strings.LastIndexByte(segment, ':')
	if i < 0 {
		return dialect.Operation{Name: other}
	}
	op := dialect.Operation{Name: other, Model: Model(segment[:i])}
	switch segment[i+1:] {
	case "generateContent":
		op.Name, op.Format, op.Metered = generate, dialect.FormatGenerate, true
	case "streamGenerateContent":
		op.Name, op.Format, op.Metered, op.Stream = generate, dialect.FormatGenerate, true, true
	case "embedContent", "batchEmbedContents":
		op.Name, op.Format, op.Metered = embeddings, dialect.FormatGenerate, true
	case "countTokens", "computeTokens":
		op.Free = true
	}
	return op
}

// IsRead reports a method that changes nothing.
func IsRead(method string) bool { return method == http.MethodGet || method == http.MethodHead }
