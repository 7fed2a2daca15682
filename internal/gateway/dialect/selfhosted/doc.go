// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package selfhosted is the dialect of servers that one runs oneself: vLLM, which serves OpenAI's API, Text
// Generation Inference and Ollama, which serve it beside their own. They have no accounts: whatever they refuse, they
// refuse for want of capacity.
//
// It imports the standard library, the dialect contract, the readers beneath it and packages compatible and openai.
package selfhosted
