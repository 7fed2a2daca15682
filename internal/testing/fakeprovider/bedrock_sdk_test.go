// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/auth/bearer"

	"github.com/headgate-dev/headgate/internal/testing/awssdk"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

// bedrockOptions are a client's but for its credentials.
func bedrockOptions(server *httptest.Server) bedrockruntime.Options {
	return bedrockruntime.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(server.URL + "/_p/bedrock"), Retryer: aws.NopRetryer{},
		HTTPClient: server.Client(),
	}
}

// startTLS serves a provider over TLS: the SDK sends an API key over nothing less.
func startTLS(t *testing.T, opts fakeprovider.Options) (*fakeprovider.Server, *httptest.Server) {
	t.Helper()
	provider := fakeprovider.New(opts)
	server := httptest.NewTLSServer(provider)
	t.Cleanup(server.Close)
	return provider, server
}

// withBearer is a client with an API key.
func withBearer(server *httptest.Server) *bedrockruntime.Client {
	o := bedrockOptions(server)
	o.BearerAuthTokenProvider = bearer.StaticTokenProvider{Token: bearer.Token{Value: "bedrock-api-key-test"}}
	o.AuthSchemePreference = []string{"httpBearerAuth"}
	return bedrockruntime.New(o, awssdk.Steady)
}

// withSignature is a client that signs its calls.
func withSignature(server *httptest.Server, id, secret string) *bedrockruntime.Client {
	o := bedrockOptions(server)
	o.Credentials = credentials.NewStaticCredentialsProvider(id, secret, "session")
	return bedrockruntime.New(o, awssdk.Steady)
}

// said is 100 tokens outside the cache, 30 from it and 7 into it; the answer has 8.
func said() []types.Message {
	return []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{
		&types.ContentBlockMemberText{Value: "hello [[input=100]][[cached=30]][[cache_write=7]]"},
	}}}
}

func converseInput() *bedrockruntime.ConverseInput {
	return &bedrockruntime.ConverseInput{
		ModelId: aws.String(sonnet), Messages: said(),
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(8)},
	}
}

func checkBedrockUsage(t *testing.T, u *types.TokenUsage) {
	t.Helper()
	if *u.InputTokens != 100 || *u.OutputTokens != 8 || *u.TotalTokens != 145 || *u.CacheReadInputTokens != 30 ||
		*u.CacheWriteInputTokens != 7 {
		t.Errorf("usage = %+v", u)
	}
}

func TestBedrockSDKReadsConverse(t *testing.T) {
	provider, server := startTLS(t, fakeprovider.Options{AWSSecrets: map[string]string{"AKIATEST": "secret"}})
	for name, client := range map[string]*bedrockruntime.Client{
		"bearer": withBearer(server), "signed": withSignature(server, "AKIATEST", "secret"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := client.Converse(t.Context(), converseInput())
			if err != nil {
				t.Fatal(err)
			}
			checkBedrockUsage(t, got.Usage)
			message := got.Output.(*types.ConverseOutputMemberMessage).Value
			text := message.Content[0].(*types.ContentBlockMemberText).Value
			if text != fakeprovider.Text(8) || got.StopReason != types.StopReasonMaxTokens {
				t.Errorf("text %q, stop reason %s", text, got.StopReason)
			}
		})
	}
	if a := provider.Arrivals()[0]; a.Model != sonnet || a.Headers["amz-sdk-request"] != "attempt=1; max=1" {
		t.Errorf("arrival = %+v", a)
	}
}

func TestBedrockSDKReadsConverseStream(t *testing.T) {
	_, server := startTLS(t, fakeprovider.Options{})
	in := converseInput()
	got, err := withBearer(server).ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{
		ModelId: in.ModelId, Messages: in.Messages, InferenceConfig: in.InferenceConfig,
	})
	if err != nil {
		t.Fatal(err)
	}
	text, stop := "", types.StopReason("")
	stream := got.GetStream()
	for e := range stream.Events() {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			text += e.Value.Delta.(*types.ContentBlockDeltaMemberText).Value
		case *types.ConverseStreamOutputMemberMessageStop:
			stop = e.Value.StopReason
		case *types.ConverseStreamOutputMemberMetadata:
			checkBedrockUsage(t, e.Value.Usage)
		}
	}
	if stream.Err() != nil || text != fakeprovider.Text(8) || stop != types.StopReasonMaxTokens {
		t.Errorf("text %q, stop reason %q, %v", text, stop, stream.Err())
	}
}

func TestBedrockSDKReadsErrors(t *testing.T) {
	provider, server := startTLS(t, fakeprovider.Options{})
	client := withBearer(server)
	provider.SetLevel("", inDebt)
	_, err := client.Converse(t.Context(), converseInput())
	var throttled *types.ThrottlingException
	if !errors.As(err, &throttled) || !strings.HasPrefix(throttled.ErrorMessage(), "Too many tokens") {
		t.Errorf("error = %v", err)
	}
	provider.SetLevel("", 100)
	for kind, code := range map[fakeprovider.FaultKind]string{
		fakeprovider.FaultOverload: "ServiceUnavailableException", fakeprovider.FaultQuota: "ThrottlingException",
	} {
		inject(t, provider, fakeprovider.Fault{Kind: kind})
		_, err := client.Converse(t.Context(), converseInput())
		var e smithy.APIError
		if !errors.As(err, &e) || e.ErrorCode() != code {
			t.Errorf("%s: error = %v", kind, err)
		}
	}
	inject(t, provider, fakeprovider.Fault{Kind: fakeprovider.FaultStreamOverload, AfterContent: 2})
	got, err := client.ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{
		ModelId: aws.String(sonnet), Messages: said(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for range got.GetStream().Events() {
	}
	var busy *types.ServiceUnavailableException
	if err := got.GetStream().Err(); !errors.As(err, &busy) {
		t.Errorf("error in the stream = %v", err)
	}
}

// tamper changes requests after they are signed, as a proxy might.
type tamper func(*http.Request)

func (f tamper) Do(r *http.Request) (*http.Response, error) {
	f(r)
	return http.DefaultTransport.RoundTrip(r)
}

// TestBedrockVerifiesSignatures: host, path, signed headers, body and time are all part of what is signed.
func TestBedrockVerifiesSignatures(t *testing.T) {
	provider, server := start(t, fakeprovider.Options{AWSSecrets: map[string]string{"AKIATEST": "secret"}})
	for name, tc := range map[string]struct {
		id, secret string
		skew       time.Duration
		tamper     tamper
		want       string
	}{
		"untouched":               {},
		"a header that is signed": {tamper: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, want: "InvalidSignatureException"},
		"a header that is not":    {tamper: func(r *http.Request) { r.Header.Set("X-Forwarded-For", "10.0.0.1") }},
		"another host":            {tamper: func(r *http.Request) { r.Host = "bedrock.example" }, want: "InvalidSignatureException"},
		"another path":            {tamper: func(r *http.Request) { r.URL.Path = "/model/m/converse"; r.URL.RawPath = "" }, want: "InvalidSignatureException"},
		"another body": {tamper: func(r *http.Request) {
			body := `{"messages":[{"role":"user","content":[{"text":"?"}]}]}`
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		}, want: "InvalidSignatureException"},
		"another secret": {secret: "other", want: "InvalidSignatureException"},
		"an unknown key": {id: "AKIAOTHER", want: "UnrecognizedClientException"},
		"an old request": {skew: 6 * time.Minute, want: "InvalidSignatureException"},
		"no signature":   {tamper: func(r *http.Request) { r.Header.Del("Authorization") }, want: "MissingAuthenticationTokenException"},
	} {
		t.Run(name, func(t *testing.T) {
			provider.SetSkew(tc.skew)
			client := withSignature(server, cmp.Or(tc.id, "AKIATEST"), cmp.Or(tc.secret, "secret"))
			_, err := client.Converse(t.Context(), converseInput(), func(o *bedrockruntime.Options) {
				if tc.tamper != nil {
					o.HTTPClient = tc.tamper
				}
			})
			var e smithy.APIError
			if tc.want == "" && err != nil || tc.want != "" && (!errors.As(err, &e) || e.ErrorCode() != tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
		})
	}
}
