// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package awssdk_test

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/headgate-dev/headgate/internal/testing/awssdk"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// TestStreamsOfQuickServersAreRead fails in nearly every run without the option.
func TestStreamsOfQuickServersAreRead(t *testing.T) {
	server := httptest.NewServer(fakeprovider.New(fakeprovider.Options{}))
	defer server.Close()
	client := bedrockruntime.New(bedrockruntime.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL + "/_p/bedrock"), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	}, awssdk.Steady)
	for i := range 400 {
		answer, err := client.ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{
			ModelId:         aws.String("eu.amazon.nova-pro-v1:0"),
			InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(8)},
			Messages: []types.Message{{
				Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "hello"}},
			}},
		})
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		stream := answer.GetStream()
		for range stream.Events() {
		}
		if err := stream.Err(); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
		_ = stream.Close()
	}
}
