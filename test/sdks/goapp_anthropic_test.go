// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"context"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
)

// anthropicGo is Anthropic's own SDK with all its defaults.
type anthropicGo struct{}

func (anthropicGo) request(s scenario) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: s.Model, MaxTokens: int64(s.MaxTokens),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("a few c4n4ryPrompt words"))},
	}
}

func (g anthropicGo) call(ctx context.Context, s scenario) (piece, error) {
	client := anthropic.NewClient()
	answer, err := client.Messages.New(ctx, g.request(s))
	if err != nil {
		return piece{}, err
	}
	return piece{answer.Content[0].Text, answer.Usage.OutputTokens}, nil
}

func (g anthropicGo) stream(ctx context.Context, s scenario, each func(piece)) error {
	client := anthropic.NewClient()
	events := client.Messages.NewStreaming(ctx, g.request(s))
	defer func() { _ = events.Close() }()
	for events.Next() {
		e := events.Current()
		each(piece{e.Delta.Text, e.Usage.OutputTokens})
	}
	return events.Err()
}

func (anthropicGo) wait(err error) (string, int, *float64) {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return "", 0, nil
	}
	return "*anthropic.Error", e.StatusCode, retryAfter(e.StatusCode, e.Response)
}
