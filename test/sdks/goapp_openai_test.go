// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/openai/openai-go/v3"
)

// openaiGo is OpenAI's own SDK with all its defaults.
type openaiGo struct{}

func (openaiGo) request(s scenario) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: s.Model, MaxTokens: openai.Int(int64(s.MaxTokens)),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("a few c4n4ryPrompt words")},
	}
}

func (g openaiGo) call(ctx context.Context, s scenario) (piece, error) {
	client := openai.NewClient()
	answer, err := client.Chat.Completions.New(ctx, g.request(s))
	if err != nil {
		return piece{}, err
	}
	return piece{answer.Choices[0].Message.Content, answer.Usage.CompletionTokens}, nil
}

func (g openaiGo) stream(ctx context.Context, s scenario, each func(piece)) error {
	client := openai.NewClient()
	chunks := client.Chat.Completions.NewStreaming(ctx, g.request(s))
	defer func() { _ = chunks.Close() }()
	for chunks.Next() {
		// As apps do: a chunk without a choice that nobody asked for would end them.
		each(piece{text: chunks.Current().Choices[0].Delta.Content})
	}
	return chunks.Err()
}

func (openaiGo) wait(err error) (string, int, *float64) {
	var e *openai.Error
	if !errors.As(err, &e) {
		return "", 0, nil
	}
	return "*openai.Error", e.StatusCode, retryAfter(e.StatusCode, e.Response)
}

// retryAfter is the header of a rate limit error that shows its response.
func retryAfter(status int, r *http.Response) *float64 {
	if status != http.StatusTooManyRequests || r == nil {
		return nil
	}
	seconds, err := strconv.ParseFloat(r.Header.Get("Retry-After"), 64)
	if err != nil {
		return nil
	}
	return &seconds
}
