// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package huggingface

import (
	"net/http"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
)

// Dialect is Hugging Face's.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "HuggingFace", Path: path, Below: below,
	Complete: complete,
	Classify: classify,
	Hint:     hint,
}}

// complete takes the message from the header that has it where the body has none.
func complete(f *compatible.Failed, _ *dialect.Reading) {
	if f.Document.Message == "" {
		f.Document.Message = f.Header.Get("X-Error-Message")
	}
}

// classify tells a model that is being loaded from a lack of machines; a full queue of Text Generation Inference
// is answered 429.
func classify(f compatible.Failed) dialect.Class {
	switch {
	case f.Status == http.StatusServiceUnavailable && loading(f):
		return dialect.ClassTransient
	case f.Status == http.StatusTooManyRequests && f.Document.Type == "overloaded":
		return dialect.ClassOverload
	}
	return openai.Classify(f.Status, f.Document)
}

func loading(f compatible.Failed) bool {
	return f.Document.Error.Get("estimated_time").Exists() || f.Says("is currently loading")
}

func hint(f compatible.Failed, _ time.Time) (time.Duration, bool) {
	if wait, ok := compatible.SecondsOf(f.Document.Error.Get("estimated_time")); ok {
		return wait, true
	}
	return f.Document.Advice()
}
