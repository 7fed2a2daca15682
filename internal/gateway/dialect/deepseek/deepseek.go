// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deepseek

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
)

// Dialect is DeepSeek's.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "DeepSeek", Path: path, Below: below,
	Operations: map[string]dialect.Operation{
		"messages":              compatible.Messages,
		"messages/count_tokens": {Name: "other", Free: true},
	},
}}
