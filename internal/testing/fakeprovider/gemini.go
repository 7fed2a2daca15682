// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const geminiModel = "/v1(?:beta|alpha)?/(?:models|tunedModels)/(?P<model>[^/:]+):"

var geminiProvider = &provider{
	dialect: Gemini,
	find: routes(
		post(geminiModel+"generateContent", &generateOperation),
		streamed(geminiModel+"streamGenerateContent", &generateStreamOperation),
		post(geminiModel+"countTokens", &geminiCountOperation),
		post(geminiModel+"embedContent", &geminiEmbedOperation),
		post(geminiModel+"batchEmbedContents", &geminiBatchEmbedOperation),
		get("/v1beta/models(?:/(?P<model>.+))?", &geminiModels),
	),
	api: googleAPI{
		throttled: geminiThrottle, spent: geminiQuota, busy: "The model is overloaded. Please try again later.",
	},
	keys:    keyPlaces{headers: []string{"X-Goog-Api-Key"}, query: "key"},
	limits:  []Limit{perMinute(InputTokens, 400_000)},
	charges: EstimateThenActual, guidance: GuidanceOwn, json: googleJSON,
}

const geminiDocs = "You exceeded your current quota, please check your plan and billing details. For more information " +
	"on this error, head over to: https://ai.google.dev/gemini-api/docs/rate-limits."

// geminiThrottle tells the wait twice: exactly in the message, and cut to whole seconds in the details. A wait that
// is scripted is told there too, since SDKs look nowhere else.
func geminiThrottle(c *call, t throttled) googleStatus {
	metric, id := "generate_content_paid_tier_requests", "GenerateRequestsPer"
	if t.level.Budget != Requests {
		metric, id = "generate_content_paid_tier_input_token_count", "GenerateContentPaidTierInputTokensPer"
	}
	s := c.geminiExceeded(metric, id+windowWord(t.level.Window)+"PerProjectPerModel", integer(t.level.Amount))
	if c.guided(t) || c.fault != nil && t.wait > 0 {
		s.retryIn(t.wait)
	}
	return s
}

func geminiQuota(c *call) googleStatus {
	s := c.geminiExceeded("generate_content_free_tier_requests", "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "250")
	s.retryIn(c.untilMidnight())
	return s
}

func (c *call) geminiExceeded(metric, id, value string) googleStatus {
	metric = "generativelanguage.googleapis.com/" + metric
	return googleStatus{
		Code: http.StatusTooManyRequests, Status: "RESOURCE_EXHAUSTED",
		Message: fmt.Sprintf("%s \n* Quota exceeded for metric: %s, limit: %s, model: %s", geminiDocs, metric, value,
			clip(c.req.Model, maxModelName)),
		Details: []any{quotaFailure{googleTypes + "QuotaFailure", []quotaViolation{{
			metric, id, map[string]string{"location": "global", "model": clip(c.req.Model, maxModelName)}, value,
		}}}},
	}
}

func (s *googleStatus) retryIn(wait time.Duration) {
	s.Message += fmt.Sprintf("\nPlease retry in %s.", wait)
	s.Details = append(s.Details, retryInfo{googleTypes + "RetryInfo", fmt.Sprintf("%ds", int64(wait.Seconds()))})
}

var (
	generateOperation = operation{
		name: "generate", decode: decodeGenerate, valid: validContents, answer: generateAnswer,
	}
	generateStreamOperation = operation{
		name: "generate", decode: decodeGenerate, valid: validContents, answer: generateAnswer, stream: generateStream,
		framing: googleFraming,
	}
	geminiCountOperation = operation{
		name: "count_tokens", free: true, decode: decodeCount, valid: validContents, answer: geminiCountAnswer,
	}
)

// decodeGenerate reads how much may be answered.
func decodeGenerate(body []byte, r *request) error {
	var doc struct {
		Config struct {
			MaxOutputTokens *int64 `json:"maxOutputTokens"`
			CandidateCount  *int64 `json:"candidateCount"`
		} `json:"generationConfig"`
	}
	err := json.Unmarshal(body, &doc)
	r.MaxOutputTokens, r.N = doc.Config.MaxOutputTokens, doc.Config.CandidateCount
	return err
}

// decodeCount: what is to be counted may be a whole request.
func decodeCount(body []byte, r *request) error {
	var doc struct {
		Request struct {
			Contents          json.RawMessage `json:"contents"`
			SystemInstruction json.RawMessage `json:"systemInstruction"`
		} `json:"generateContentRequest"`
	}
	err := json.Unmarshal(body, &doc)
	if len(doc.Request.Contents) > 0 {
		r.Contents, r.SystemInstruction = doc.Request.Contents, doc.Request.SystemInstruction
	}
	return err
}

func validContents(r *request) string {
	if len(r.Contents) == 0 {
		return "* GenerateContentRequest.contents: contents is not specified\n"
	}
	return ""
}

type generated struct {
	Candidates   []candidate    `json:"candidates"`
	Usage        *usageMetadata `json:"usageMetadata"`
	ModelVersion string         `json:"modelVersion"`
	CreateTime   string         `json:"createTime,omitempty"`
	ResponseID   string         `json:"responseId"`
}

type candidate struct {
	Content      googleContent `json:"content"`
	FinishReason string        `json:"finishReason,omitempty"`
	Index        int           `json:"index"`
}

type googleContent struct {
	Parts []googlePart `json:"parts,omitempty"`
	Role  string       `json:"role,omitempty"`
}

type googlePart struct {
	Text string `json:"text"`
}

type usageMetadata struct {
	Prompt        int64           `json:"promptTokenCount"`
	Cached        int64           `json:"cachedContentTokenCount,omitempty"`
	Candidates    int64           `json:"candidatesTokenCount,omitempty"`
	Total         int64           `json:"totalTokenCount"`
	PromptDetails []modalityCount `json:"promptTokensDetails,omitempty"`
	Thoughts      int64           `json:"thoughtsTokenCount,omitempty"`
}

type modalityCount struct {
	Modality string `json:"modality"`
	Tokens   int64  `json:"tokenCount"`
}

// googleUsage is the usage once so many tokens of text were produced: thoughts are not contained in candidates.
func (c *call) googleUsage(text int64) *usageMetadata {
	thoughts := c.reasoning()
	return &usageMetadata{
		Prompt: c.size.input, Cached: min(c.size.cached, c.size.input), Candidates: text, Thoughts: thoughts,
		Total: c.size.input + text + thoughts, PromptDetails: []modalityCount{{"TEXT", c.size.input}},
	}
}

func (c *call) generated(text int64, candidates ...candidate) generated {
	doc := generated{
		Candidates: candidates, Usage: c.googleUsage(text), ModelVersion: c.req.Model, ResponseID: c.id,
	}
	if c.dialect == VertexAI {
		doc.CreateTime = c.started.UTC().Format(time.RFC3339Nano)
	}
	return doc
}

func modelText(text string) googleContent { return googleContent{[]googlePart{{text}}, "model"} }

func generateAnswer(c *call) any {
	var all []candidate
	for i := range c.req.answers() {
		all = append(all, candidate{modelText(c.text()), c.finishReason("STOP", "MAX_TOKENS"), i})
	}
	return c.generated(c.visible()*int64(len(all)), all...)
}

// generateStream: usage is in every document, and cumulative.
func generateStream(c *call) events {
	return func(yield func(event) bool) {
		sent := int64(0)
		for i := range c.req.answers() {
			for text, n := range c.pieces() {
				sent += int64(len(text) / bytesPerToken)
				piece := c.generated(sent, candidate{Content: modelText(text), Index: i})
				if !yield(event{data: piece, tokens: n, content: true}) {
					return
				}
			}
		}
		var last []candidate
		for i := range c.req.answers() {
			last = append(last, candidate{modelText(""), c.finishReason("STOP", "MAX_TOKENS"), i})
		}
		yield(event{data: c.generated(sent, last...)})
	}
}

type countedTokens struct {
	Total         int64           `json:"totalTokens"`
	PromptDetails []modalityCount `json:"promptTokensDetails"`
}

func geminiCountAnswer(c *call) any {
	return countedTokens{c.size.input, []modalityCount{{"TEXT", c.size.input}}}
}

// googleFraming: a stream is one growing array unless server-sent events are asked for.
func googleFraming(c *call) framing {
	if c.r.URL.Query().Get("alt") == "sse" {
		return sse{}
	}
	return jsonArray{}
}
