// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package awssdk_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/headgate-dev/headgate/internal/testing/awssdk"
)

// quick answers once it has the stated length of a body, as net/http does, and keeps the rest to ask for it later.
type quick struct {
	sent string
	rest io.Reader
}

func (q *quick) Do(r *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(io.LimitReader(r.Body, r.ContentLength))
	q.sent, q.rest = string(sent), r.Body
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, err
}

// TestABodyThatTheSDKHasClosedIsAtItsEnd: what net/http asks it then must not be an error, for which it would drop the
// connection and the stream with it.
func TestABodyThatTheSDKHasClosedIsAtItsEnd(t *testing.T) {
	server := &quick{}
	client := bedrockruntime.New(bedrockruntime.Options{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""), HTTPClient: server,
	}, awssdk.Steady)
	_, err := client.ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{
		ModelId: aws.String("eu.amazon.nova-pro-v1:0"),
		Messages: []types.Message{{
			Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "hello"}},
		}},
	})
	if err != nil || !strings.Contains(server.sent, "hello") {
		t.Fatalf("sent %q, %v", server.sent, err)
	}
	if n, err := io.Copy(io.Discard, server.rest); n != 0 || err != nil {
		t.Errorf("behind the body came %d bytes, %v", n, err)
	}
}
