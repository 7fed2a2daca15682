// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import "github.com/headgate-dev/headgate/internal/gateway/jsonscan"

// name is a member's name, as far as it matters.
type name uint8

const (
	other name = iota
	model
	stream
	streamOptions
	maxTokens
	choices
	// prompt members of the body hold text and media.
	prompt
	// input holds a prompt at the top, and a tool's arguments below.
	input
	// schema members hold what is counted whole.
	schema
	// arguments are counted whole if they are an object.
	arguments
	kind
	source
	imageURL
	audio
	file
	fileData
	inlineData
	signature
)

func nameOf(key jsonscan.String) name {
	if n, ok := known(string(key.Raw)); ok {
		return n
	}
	return escapedName(key)
}

// escapedName reads names that are spelled with escapes; without any it answers other.
func escapedName(key jsonscan.String) name {
	for _, c := range key.Raw {
		if c == '\\' {
			n, _ := known(key.Value())
			return n
		}
	}
	return other
}

func known(key string) (name, bool) {
	switch key {
	case "model":
		return model, true
	case "stream":
		return stream, true
	case "stream_options":
		return streamOptions, true
	case "max_tokens", "max_completion_tokens", "max_output_tokens":
		return maxTokens, true
	case "n", "best_of":
		return choices, true
	case "messages", "prompt", "system", "instructions", "suffix", "contents":
		return prompt, true
	case "input":
		return input, true
	case "tools", "functions", "response_format", "text":
		return schema, true
	case "arguments", "args":
		return arguments, true
	case "type":
		return kind, true
	case "source":
		return source, true
	case "image_url":
		return imageURL, true
	case "input_audio":
		return audio, true
	case "file":
		return file, true
	case "file_data", "file_url", "file_id":
		return fileData, true
	case "inlineData", "inline_data":
		return inlineData, true
	case "signature":
		return signature, true
	}
	return other, false
}
