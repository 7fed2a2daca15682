// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package azureopenai is the dialect of OpenAI's models in Azure: OpenAI's API below deployments, which name the
// model in the path, with resets in bare seconds, errors of Azure's own shape and the key in a header of its own.
// API Management, which many put before it, adds refusals of two further shapes.
//
// It imports the standard library, the dialect contract, the readers beneath it and package compatible.
package azureopenai
