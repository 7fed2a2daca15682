// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
)

// Models the demo calls.
const (
	claudeModel = "claude-sonnet-4-5"
	openAIModel = "gpt-4.1"
)

// sdks are the official clients, made as their documentation says: no options at all, so retries, time
// limits and base URLs are whatever is the default and the environment.
type sdks struct {
	openAI    openai.Client
	anthropic anthropic.Client
}

func newSDKs() *sdks { return &sdks{openAI: openai.NewClient(), anthropic: anthropic.NewClient()} }

// call is one call to make.
type call struct {
	text   string
	output int64
	openAI bool
	stream bool
}

// do makes a call, checks that the answer is whole, and says how long the provider itself took for it.
func (s *sdks) do(ctx context.Context, c call) (processing time.Duration, err error) {
	var res *http.Response
	var a answer
	switch {
	case c.openAI && c.stream:
		a, err = s.openAIStream(ctx, c, &res)
	case c.openAI:
		a, err = s.openAIOnce(ctx, c, &res)
	case c.stream:
		a, err = s.anthropicStream(ctx, c, &res)
	default:
		a, err = s.anthropicOnce(ctx, c, &res)
	}
	if err == nil {
		err = a.check(c.output)
	}
	return processingOf(res), err
}

func openAIParams(c call) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: openAIModel, MaxCompletionTokens: param.NewOpt(c.output),
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(c.text)},
	}
}

func anthropicParams(c call) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: claudeModel, MaxTokens: c.output,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(c.text))},
	}
}

func (s *sdks) openAIOnce(ctx context.Context, c call, res **http.Response) (a answer, err error) {
	got, err := s.openAI.Chat.Completions.New(ctx, openAIParams(c), openaioption.WithResponseInto(res))
	if err != nil {
		return a, err
	}
	for _, choice := range got.Choices {
		a.text = append(a.text, choice.Message.Content...)
		a.done = choice.FinishReason != ""
	}
	return a, nil
}

func (s *sdks) openAIStream(ctx context.Context, c call, res **http.Response) (a answer, err error) {
	stream := s.openAI.Chat.Completions.NewStreaming(ctx, openAIParams(c), openaioption.WithResponseInto(res))
	defer func() { _ = stream.Close() }()
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			a.text = append(a.text, choice.Delta.Content...)
			a.done = a.done || choice.FinishReason != ""
		}
	}
	return a, stream.Err()
}

func (s *sdks) anthropicOnce(ctx context.Context, c call, res **http.Response) (a answer, err error) {
	got, err := s.anthropic.Messages.New(ctx, anthropicParams(c), anthropicoption.WithResponseInto(res))
	if err != nil {
		return a, err
	}
	for _, block := range got.Content {
		a.text = append(a.text, block.Text...)
	}
	a.done = got.StopReason != ""
	return a, nil
}

func (s *sdks) anthropicStream(ctx context.Context, c call, res **http.Response) (a answer, err error) {
	stream := s.anthropic.Messages.NewStreaming(ctx, anthropicParams(c), anthropicoption.WithResponseInto(res))
	defer func() { _ = stream.Close() }()
	for stream.Next() {
		e := stream.Current()
		a.text = append(a.text, e.Delta.Text...)
		a.done = a.done || e.Type == "message_stop"
	}
	return a, stream.Err()
}

// processingOf reads how long the simulated provider took.
func processingOf(res *http.Response) time.Duration {
	if res == nil {
		return 0
	}
	ms, err := strconv.ParseInt(res.Header.Get("X-Fake-Processing-Ms"), 10, 64)
	if err != nil || ms < 0 {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
