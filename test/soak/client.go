// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// call is what a client asks for.
type call struct {
	id     string
	model  string
	stream bool
	input  int64
	output int64
	// deadline is what the client states, 0 for none; leave when it leaves, 0 for never.
	deadline time.Duration
	leave    time.Duration
}

// prompt has as many tokens as the provider counts, a token for every four bytes, and says how long the
// answer is to be. Words of three letters are a token each for the gateway too.
func (c *call) prompt() string {
	const bytesPerToken = 4
	end := fmt.Sprintf("[[output=%d]]", c.output)
	return strings.Repeat("one ", int(c.input-int64(len(end)+bytesPerToken-1)/bytesPerToken)) + end
}

// answer is what came of a call.
type answer struct {
	sum   [sha256.Size]byte
	words int64
	// began says that content came, done that the answer itself said that it is whole.
	began, done bool
	usage       int64
	status      int
	header      http.Header
	// said is the error's body.
	said string
	err  error
}

// sdk makes calls of one API.
type sdk interface {
	once(ctx context.Context, c *call) answer
	stream(ctx context.Context, c *call) answer
}

// failed takes in an SDK's error.
func failed(a answer, err error) answer {
	a.err = err
	var oa *openai.Error
	var an *anthropic.Error
	switch {
	case errors.As(err, &oa) && oa.Response != nil:
		a.status, a.header, a.said = oa.StatusCode, oa.Response.Header, oa.RawJSON()
	case errors.As(err, &an) && an.Response != nil:
		a.status, a.header, a.said = an.StatusCode, an.Response.Header, an.RawJSON()
	}
	return a
}

// content takes in a piece of the answer.
type content struct {
	text strings.Builder
}

func (c *content) into(a *answer) {
	a.sum = sha256.Sum256([]byte(c.text.String()))
	a.words = int64(c.text.Len() / len("aaa "))
	a.began = c.text.Len() > 0
}

// openAI is the official SDK for OpenAI, with its default settings, two retries among them.
type openAI struct{ client openai.Client }

func newOpenAI(base, key string, transport *http.Client) sdk {
	return &openAI{openai.NewClient(openaioption.WithBaseURL(base+"/openai/v1"), openaioption.WithAPIKey(key), openaioption.WithHTTPClient(transport))}
}

func (s *openAI) params(c *call) (openai.ChatCompletionNewParams, []openaioption.RequestOption) {
	opts := []openaioption.RequestOption{openaioption.WithHeader(headerID, c.id)}
	if c.deadline > 0 {
		opts = append(opts, openaioption.WithHeader(headerDeadline, c.deadline.String()))
	}
	return openai.ChatCompletionNewParams{
		Model: c.model, MaxTokens: openai.Int(c.output),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(c.prompt())},
	}, opts
}

func (s *openAI) once(ctx context.Context, c *call) (a answer) {
	params, opts := s.params(c)
	got, err := s.client.Chat.Completions.New(ctx, params, opts...)
	if err != nil {
		return failed(a, err)
	}
	var text content
	for _, choice := range got.Choices {
		text.text.WriteString(choice.Message.Content)
		a.done = choice.FinishReason != ""
	}
	text.into(&a)
	a.usage = got.Usage.CompletionTokens
	return a
}

func (s *openAI) stream(ctx context.Context, c *call) (a answer) {
	params, opts := s.params(c)
	chunks := s.client.Chat.Completions.NewStreaming(ctx, params, opts...)
	defer func() { _ = chunks.Close() }()
	var text content
	for chunks.Next() {
		for _, choice := range chunks.Current().Choices {
			text.text.WriteString(choice.Delta.Content)
			a.done = a.done || choice.FinishReason != ""
		}
	}
	text.into(&a)
	a.usage = a.words // a stream whose usage was not asked for reports none
	if err := chunks.Err(); err != nil {
		return failed(a, err)
	}
	return a
}

// claude is the official SDK for Anthropic.
type claude struct{ client anthropic.Client }

func newClaude(base, key string, transport *http.Client) sdk {
	return &claude{anthropic.NewClient(anthropicoption.WithBaseURL(base+"/anthropic"), anthropicoption.WithAPIKey(key), anthropicoption.WithHTTPClient(transport))}
}

func (s *claude) params(c *call) (anthropic.MessageNewParams, []anthropicoption.RequestOption) {
	opts := []anthropicoption.RequestOption{anthropicoption.WithHeader(headerID, c.id)}
	if c.deadline > 0 {
		opts = append(opts, anthropicoption.WithHeader(headerDeadline, c.deadline.String()))
	}
	return anthropic.MessageNewParams{
		Model: c.model, MaxTokens: c.output,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(c.prompt()))},
	}, opts
}

func (s *claude) once(ctx context.Context, c *call) (a answer) {
	params, opts := s.params(c)
	got, err := s.client.Messages.New(ctx, params, opts...)
	if err != nil {
		return failed(a, err)
	}
	var text content
	for _, block := range got.Content {
		text.text.WriteString(block.Text)
	}
	text.into(&a)
	a.done, a.usage = got.StopReason != "", got.Usage.OutputTokens
	return a
}

func (s *claude) stream(ctx context.Context, c *call) (a answer) {
	params, opts := s.params(c)
	events := s.client.Messages.NewStreaming(ctx, params, opts...)
	defer func() { _ = events.Close() }()
	var text content
	for events.Next() {
		e := events.Current()
		switch e.Type {
		case "content_block_delta":
			text.text.WriteString(e.Delta.Text)
		case "message_delta":
			a.usage = e.Usage.OutputTokens
		case "message_stop":
			a.done = true
		}
	}
	text.into(&a)
	if err := events.Err(); err != nil {
		return failed(a, err)
	}
	return a
}

const (
	headerID       = "X-Request-Id"
	headerDeadline = "Headgate-Deadline"
	headerReason   = "X-Headgate-Reason"
)

// wanted is the checksum of the first words of the provider's answer.
func wanted(words int64) [sha256.Size]byte { return sha256.Sum256([]byte(fakeprovider.Text(words))) }
