// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deepseek

import (
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
)

// Dialect is DeepSeek's.
var Dialect = compatible.Dialect{Spec: compatible.Spec{
	Name: "DeepSeek", Path: path, Below: below,
	Operations: compatible.Anthropic,
}}
