// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"net/http"
)

const (
	// vertexProject may be left out with a key of express mode.
	vertexProject = "/v1(?:beta1)?/(?:projects/[^/]+/locations/[^/]+/)?"
	vertexGoogle  = vertexProject + "(?:publishers/google/models|endpoints)/(?P<model>[^/:]+):"
	vertexClaude  = vertexProject + "publishers/anthropic/models/"
	claudeModel   = "(?P<model>[^/:]+):"
)

var vertexProvider = &provider{
	dialect: VertexAI, find: vertexPath,
	api: googleAPI{
		throttled: vertexThrottle, spent: vertexQuota, busy: "The service is currently unavailable.",
		broken: vertexBroken,
	},
	keys:    keyPlaces{headers: []string{"X-Goog-Api-Key"}, query: "key"},
	limits:  []Limit{perMinute(InputTokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn, json: googleJSON,
}

// vertexPath: a project is named but for keys of express mode, which have the publisher right after the version.
var vertexPath = routes(
	post(vertexGoogle+"generateContent", &generateOperation),
	streamed(vertexGoogle+"streamGenerateContent", &generateStreamOperation),
	post(vertexGoogle+"countTokens", &geminiCountOperation),
	post(vertexGoogle+"embedContent", &geminiEmbedOperation),
	post(vertexGoogle+"predict", &predictOperation),
	post(vertexClaude+"count-tokens:rawPredict", &countTokensOperation),
	post(vertexClaude+claudeModel+"rawPredict", &rawPredictOperation),
	streamed(vertexClaude+claudeModel+"streamRawPredict", &rawPredictOperation),
	post(vertexProject+"endpoints/openapi/chat/completions", &chatOperation),
)

// vertexThrottle: the message of a capacity that is shared says nothing of time.
func vertexThrottle(*call, throttled) googleStatus {
	return googleStatus{
		Code: http.StatusTooManyRequests, Status: "RESOURCE_EXHAUSTED",
		Message: "Resource exhausted. Please try again later. Please refer to " +
			"https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.",
	}
}

func vertexQuota(c *call) googleStatus {
	const metric = "aiplatform.googleapis.com/generate_content_requests_per_day_per_project_per_base_model"
	return googleStatus{
		Code: http.StatusTooManyRequests, Status: "RESOURCE_EXHAUSTED",
		Message: "Quota exceeded for " + metric + " with base model: " + clip(c.req.Model, maxModelName) + ".",
		Details: []any{errorInfo{googleTypes + "ErrorInfo", "RATE_LIMIT_EXCEEDED", "googleapis.com", map[string]string{
			"service": "aiplatform.googleapis.com", "quota_metric": metric,
			"quota_limit": "GenerateContentRequestsPerDayPerProjectPerBaseModel", "quota_limit_value": "250",
		}}},
	}
}

// vertexBroken: a stream of Anthropic's fails as Anthropic's do.
func vertexBroken(c *call) []event {
	if c.op == &rawPredictOperation {
		return anthropicAPI{}.streamError(c)
	}
	return nil
}

// rawPredictOperation passes Anthropic's messages, whose model is in the path and whose version in the body.
var rawPredictOperation = operation{
	name: "messages", decode: needsAnthropicVersion, valid: validAnthropic, answer: messageAnswer, stream: messageStream,
}

func needsAnthropicVersion(body []byte, r *request) error {
	var doc struct {
		Version string `json:"anthropic_version"`
	}
	err := json.Unmarshal(body, &doc)
	if doc.Version == "" {
		r.Messages = nil // validAnthropic refuses that
	}
	return err
}

var predictOperation = operation{name: "embeddings", decode: decodePredict, valid: validPredict, answer: predictAnswer}

func decodePredict(body []byte, r *request) error {
	var doc struct {
		Instances  json.RawMessage `json:"instances"`
		Parameters struct {
			Dimensions *int64 `json:"outputDimensionality"`
		} `json:"parameters"`
	}
	err := json.Unmarshal(body, &doc)
	r.Requests, r.Dimensions = doc.Instances, doc.Parameters.Dimensions
	return err
}

func validPredict(r *request) string {
	if len(r.Requests) == 0 {
		return "Invalid value: instances is required."
	}
	r.MaxOutputTokens = new(int64) // embeddings have no output
	return ""
}

type prediction struct {
	Embeddings predicted `json:"embeddings"`
}

type predicted struct {
	Values     any            `json:"values"`
	Statistics map[string]any `json:"statistics"`
}

func predictAnswer(c *call) any {
	n := inputs(c.req.Requests)
	all := make([]prediction, n)
	for i := range all {
		all[i] = prediction{predicted{c.vector(768), map[string]any{
			"truncated": false, "token_count": c.size.input / int64(n),
		}}}
	}
	return map[string]any{"predictions": all}
}
