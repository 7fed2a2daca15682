// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import "net/http"

// selfHostedProvider is the servers that people run themselves: vLLM, which copies OpenAI's API, and the own APIs
// of Ollama and of Text Generation Inference. None asks for a key.
var selfHostedProvider = &provider{
	dialect: SelfHosted,
	find: func(method, path string) target {
		if t := prefixed("/v1")(method, path); t.op != nil {
			return t
		}
		return ownPaths(method, path)
	},
	api: flavour{
		shape: func(_ *call, p problem) any { return vllmError{"error", p.message, p.kind, nil, p.status} },
		throttled: func(*call, throttled) problem {
			return problem{http.StatusTooManyRequests, "TooManyRequestsError", "", "Too many requests.", nil}
		},
		busy: problem{http.StatusServiceUnavailable, "ServiceUnavailableError", "", "The server is overloaded.", nil},
	},
	keys:    keyPlaces{optional: true},
	charges: EstimateThenActual, guidance: GuidanceOwn, style: chatStyle{plain: true},
}

var ownPaths = routes(
	defaultStream(post("/api/chat", &ollamaChatOperation)),
	defaultStream(post("/api/generate", &ollamaGenerateOperation)),
	post("/api/embed", &ollamaEmbedOperation),
	get("/api/tags", &ollamaTags),
	post("/generate", &tgiOperation),
	post("/", &tgiOperation),
	streamed("/generate_stream", &tgiOperation),
)

// defaultStream is a route that streams unless the body says otherwise.
func defaultStream(r route) route {
	r.target.streamByDefault = true
	return r
}

type vllmError struct {
	Object  string  `json:"object"`
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"`
}

// ownAPI is what Ollama and TGI say around an answer: little.
type ownAPI struct {
	flavour
	busyBody any
}

func (ownAPI) requestID(uint64) (header, id string) { return "", "" }

func (a ownAPI) streamError(*call) []event { return []event{{data: a.busyBody}} }
