// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package selfhosted

import (
	"net/http"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
)

// types are the kinds of errors that Text Generation Inference names.
var types = map[string]dialect.Class{
	"overloaded": dialect.ClassOverload, "generation": dialect.ClassTransient,
	"incomplete_generation": dialect.ClassTransient, "validation": dialect.ClassPermanent,
	"tokenizer": dialect.ClassPermanent, "empty_input": dialect.ClassPermanent, "template_error": dialect.ClassPermanent,
}

// busy are the words of a queue that is full, with whatever status: a 429 of such a server is no limit of an account.
var busy = [...]string{"overloaded", "queue", "busy", "maximum pending requests", "at capacity", "in-flight"}

func classify(f compatible.Failed) dialect.Class {
	if class, known := types[f.Document.Type]; known {
		return class
	}
	message := strings.ToLower(f.Document.Message)
	if f.Status == http.StatusTooManyRequests || f.Status == http.StatusServiceUnavailable || f.InStream {
		for _, words := range busy {
			if strings.Contains(message, words) {
				return dialect.ClassOverload
			}
		}
	}
	if f.Status == http.StatusTooManyRequests && strings.Contains(message, "usage limit") {
		return dialect.ClassQuota // of Ollama's own hosts, which serve the same API to accounts
	}
	return failure.ByStatus(f.Status)
}
