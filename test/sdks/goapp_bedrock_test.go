// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/headgate-dev/headgate/internal/testing/awssdk"
)

// bedrockGo is the SDK of AWS with its defaults but for what makes it steady beside a provider on the same machine, and
// for the API key, which it sends over TLS alone: the app puts it into the header itself, as docs/sdks.md shows.
type bedrockGo struct{}

// bedrockKey is where this app has its API key, a variable that the SDK does not read.
const bedrockKey = "BEDROCK_API_KEY"

func (bedrockGo) client(ctx context.Context, s scenario) (*bedrockruntime.Client, error) {
	none := credentials.NewStaticCredentialsProvider("none", "none", "")
	cfg, err := config.LoadDefaultConfig(ctx, config.WithCredentialsProvider(none))
	if err != nil {
		return nil, err
	}
	return bedrockruntime.NewFromConfig(cfg, func(o *bedrockruntime.Options) {
		o.APIOptions = append(o.APIOptions, withAPIKey(os.Getenv(bedrockKey)))
		if s.Options["retryer"] == "NopRetryer" {
			o.Retryer = aws.NopRetryer{}
		}
	}, awssdk.Steady), nil
}

// withAPIKey puts an API key in the place of the signature.
func withAPIKey(key string) func(*middleware.Stack) error {
	set := func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if r, ok := in.Request.(*smithyhttp.Request); ok {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		return next.HandleFinalize(ctx, in)
	}
	return func(s *middleware.Stack) error {
		return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("APIKey", set), "Signing", middleware.After)
	}
}

func bedrockSaid() []types.Message {
	return []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "a few c4n4ryPrompt words"}}}}
}

func (g bedrockGo) call(ctx context.Context, s scenario) (piece, error) {
	client, err := g.client(ctx, s)
	if err != nil {
		return piece{}, err
	}
	return converse(ctx, client, s.Model, int32(s.MaxTokens))
}

func converse(ctx context.Context, client *bedrockruntime.Client, model string, maxTokens int32) (piece, error) {
	answer, err := client.Converse(ctx, &bedrockruntime.ConverseInput{
		ModelId: aws.String(model), Messages: bedrockSaid(), InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(maxTokens)},
	})
	if err != nil {
		return piece{}, err
	}
	said, _ := answer.Output.(*types.ConverseOutputMemberMessage)
	text, _ := said.Value.Content[0].(*types.ContentBlockMemberText)
	return piece{text.Value, int64(aws.ToInt32(answer.Usage.OutputTokens))}, nil
}

func (g bedrockGo) stream(ctx context.Context, s scenario, each func(piece)) error {
	client, err := g.client(ctx, s)
	if err != nil {
		return err
	}
	answer, err := client.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId: aws.String(s.Model), Messages: bedrockSaid(), InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(s.MaxTokens))},
	})
	if err != nil {
		return err
	}
	events := answer.GetStream()
	defer func() { _ = events.Close() }()
	for e := range events.Events() {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			if text, ok := e.Value.Delta.(*types.ContentBlockDeltaMemberText); ok {
				each(piece{text: text.Value})
			}
		case *types.ConverseStreamOutputMemberMetadata:
			each(piece{outputTokens: int64(aws.ToInt32(e.Value.Usage.OutputTokens))})
		}
	}
	return events.Err()
}

func (bedrockGo) wait(err error) (string, int, *float64) {
	var throttled *types.ThrottlingException
	var response *awshttp.ResponseError
	if !errors.As(err, &throttled) || !errors.As(err, &response) {
		return "", 0, nil
	}
	return "*types.ThrottlingException", response.HTTPStatusCode(), retryAfter(http.StatusTooManyRequests, response.HTTPResponse().Response)
}
