// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"
)

const azureDeployment = "/openai/deployments/(?P<model>[^/]+)/"

var azureProvider = &provider{
	dialect: AzureOpenAI,
	find: func(method, path string) target {
		if strings.HasPrefix(path, "/openai/v1/") {
			return prefixed("/openai/v1")(method, path)
		}
		return azureDeployments(method, path)
	},
	refuses: needsVersion,
	api: flavour{
		limits: azureLimits, throttled: azureThrottle, shape: azureShape,
		spent: always(problem{
			http.StatusForbidden, "", "", "Out of call volume quota. Quota will be replenished in 10.06:15:21.", nil,
		}),
		busy: problem{
			http.StatusTooManyRequests, "", "429", "The system is currently experiencing high demand and cannot process " +
				"your request. Your request exceeds the maximum usage size allowed during peak load. For improved capacity " +
				"reliability, consider switching to Provisioned Throughput.", nil,
		},
		unauthorized: problem{
			http.StatusUnauthorized, "", "401", "Access denied due to invalid subscription key or wrong API endpoint. " +
				"Make sure to provide a valid key for an active subscription and use a correct regional API endpoint " +
				"for your resource.", nil,
		},
	},
	keys:   keyPlaces{headers: []string{"Api-Key"}},
	limits: []Limit{perMinute(Tokens, 400_000)}, charges: MaxAtAdmission, guidance: GuidanceBoth,
	style: chatStyle{promptFilter: true},
}

var azureDeployments = routes(
	post(azureDeployment+"chat/completions", &chatOperation),
	post(azureDeployment+"completions", &completionsOperation),
	post(azureDeployment+"embeddings", &embeddingsOperation),
)

// needsVersion: the paths of deployments exist in dated versions only.
func needsVersion(r *http.Request) (problem string, status int) {
	if strings.Contains(r.URL.Path, "/openai/deployments/") && r.URL.Query().Get("api-version") == "" {
		return "Resource not found", http.StatusNotFound
	}
	return "", 0
}

// azureLimits: resets are whole seconds, without a unit.
func azureLimits(h http.Header, c *call, budgets []level) {
	h.Set("X-Ms-Region", "Sweden Central")
	h.Set("Apim-Request-Id", c.id)
	report(resetSeconds, openAINames...)(h, c, budgets)
}

func azureThrottle(c *call, t throttled) problem {
	what, limit := "ChatCompletions_Create", "token"
	switch {
	case c.op == &embeddingsOperation:
		what = "Embeddings_Create"
	case c.op == &completionsOperation:
		what = "Completions_Create"
	}
	if t.level.Budget == Requests {
		limit = "call"
	}
	message := fmt.Sprintf("Requests to the %s Operation under Azure OpenAI API version %s have exceeded %s rate limit "+
		"of your current OpenAI S0 pricing tier.", what, clip(c.r.URL.Query().Get("api-version"), maxModelName), limit)
	if c.guided(t) {
		unit := "seconds"
		if t.seconds() == 1 {
			unit = "second"
		}
		message += fmt.Sprintf(" Please retry after %d %s. Please go here: https://aka.ms/oai/quotaincrease if you "+
			"would like to further increase the default rate limit.", t.seconds(), unit)
	}
	return problem{http.StatusTooManyRequests, "", "429", message, nil}
}

// azureShape: what the management layer refuses has a shape of its own, and paths that do not exist another code.
func azureShape(c *call, p problem) any {
	switch {
	case p.status == http.StatusForbidden:
		return gatewayError{p.status, p.message}
	case p.status == http.StatusNotFound && c.op == nil || p.message == "Resource not found":
		p.code, p.message = "404", "Resource not found"
	case p.status == http.StatusNotFound:
		p.code = "DeploymentNotFound"
		p.message = "The API deployment for this resource does not exist. If you created the deployment within the last " +
			"5 minutes, please wait a moment and try again."
	case p.kind != "":
		return openAIErr(p.kind, p.code, p.message)
	}
	return codedError{codedMessage{p.code, p.message}}
}

type gatewayError struct {
	StatusCode int    `json:"statusCode"`
	Message    string `json:"message"`
}

// codedError is the shape of Microsoft's errors.
type codedError struct {
	Error codedMessage `json:"error"`
}

type codedMessage struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// promptFilter is a chunk that comes before the answer.
type promptFilter struct {
	Choices []chunkChoice  `json:"choices"`
	Created int64          `json:"created"`
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Object  string         `json:"object"`
	Results []promptResult `json:"prompt_filter_results"`
}

type promptResult struct {
	Index   int                     `json:"prompt_index"`
	Results map[string]filterResult `json:"content_filter_results"`
}

type filterResult struct {
	Filtered bool   `json:"filtered"`
	Severity string `json:"severity"`
}

var unfiltered = []promptResult{{0, map[string]filterResult{"hate": {Severity: "safe"}, "violence": {Severity: "safe"}}}}
