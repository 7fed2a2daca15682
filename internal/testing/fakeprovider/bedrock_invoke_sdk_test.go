// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// invocations are a call of each maker of models, and where its answer has the count of output.
var invocations = map[string]struct{ body, text, output string }{
	sonnet: {
		`{"anthropic_version":"bedrock-2023-05-31","max_tokens":8,"messages":[{"role":"user","content":"[[input=100]]"}]}`,
		"content.0.text", "usage.output_tokens",
	},
	"eu.amazon.nova-pro-v1:0": {
		`{"messages":[{"role":"user","content":[{"text":"[[input=100]]"}]}],"inferenceConfig":{"maxTokens":8}}`,
		"output.message.content.0.text", "usage.outputTokens",
	},
	"meta.llama3-8b-instruct-v1:0": {`{"prompt":"[[input=100]]","max_gen_len":8}`, "generation", "generation_token_count"},
	"amazon.titan-text-express-v1": {
		`{"inputText":"[[input=100]]","textGenerationConfig":{"maxTokenCount":8}}`, "results.0.outputText", "results.0.tokenCount",
	},
}

func TestBedrockSDKInvokesEachMakersModels(t *testing.T) {
	provider, server := start(t, fakeprovider.Options{AWSSecrets: map[string]string{"AKIATEST": "secret"}})
	client := withSignature(server, "AKIATEST", "secret")
	for model, tc := range invocations {
		t.Run(model, func(t *testing.T) {
			got, err := client.InvokeModel(t.Context(), &bedrockruntime.InvokeModelInput{
				ModelId: aws.String(model), Body: []byte(tc.body), ContentType: aws.String("application/json"),
			})
			if err != nil {
				t.Fatal(err)
			}
			if text := at(t, got.Body, tc.text); text != fakeprovider.Text(8) {
				t.Errorf("text %v in %s", text, got.Body)
			}
			if n := at(t, got.Body, tc.output); n != 8.0 {
				t.Errorf("output %v in %s", n, got.Body)
			}
			all := provider.Arrivals()
			if a := all[len(all)-1]; a.Model != model || a.InputTokens != 100 || a.AllowedTokens != 8 || a.KeyHash != fakeprovider.KeyHash("AKIATEST") {
				t.Errorf("arrival = %+v", a)
			}
		})
	}
}

// at finds a value by the names and numbers that lead to it.
func at(t *testing.T, body []byte, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			v = node[name]
		case []any:
			v = node[0]
		}
	}
	return v
}

// TestBedrockSDKReadsInvokeStream: the last event has the service's own figures.
func TestBedrockSDKReadsInvokeStream(t *testing.T) {
	_, server := start(t, fakeprovider.Options{})
	client := withSignature(server, "AKIATEST", "secret")
	for model, tc := range invocations {
		if strings.Contains(model, "titan") {
			continue // its stream is the same as meta's here
		}
		got, err := client.InvokeModelWithResponseStream(t.Context(), &bedrockruntime.InvokeModelWithResponseStreamInput{
			ModelId: aws.String(model), Body: []byte(tc.body),
		})
		if err != nil {
			t.Fatal(err)
		}
		var last []byte
		events := 0
		for e := range got.GetStream().Events() {
			piece, ok := e.(*types.ResponseStreamMemberChunk)
			if !ok {
				t.Fatalf("event %T", e)
			}
			last = piece.Value.Bytes
			events++
		}
		const metrics = "amazon-bedrock-invocationMetrics"
		if err := got.GetStream().Err(); err != nil || events < 9 || at(t, last, metrics+".inputTokenCount") != 100.0 ||
			at(t, last, metrics+".outputTokenCount") != 8.0 {
			t.Errorf("%s: %d events, %v, the last %s", model, events, err, last)
		}
	}
}

func TestBedrockSDKReadsExceptionsOfInvokeStreams(t *testing.T) {
	provider, server := start(t, fakeprovider.Options{})
	inject(t, provider, fakeprovider.Fault{Kind: fakeprovider.FaultStreamOverload, AfterContent: 1})
	got, err := withSignature(server, "AKIATEST", "secret").InvokeModelWithResponseStream(t.Context(),
		&bedrockruntime.InvokeModelWithResponseStreamInput{ModelId: aws.String(sonnet), Body: []byte(invocations[sonnet].body)})
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
