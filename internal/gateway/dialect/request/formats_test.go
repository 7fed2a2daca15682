// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// formatCase is a body of a format, and what it says.
type formatCase struct {
	format dialect.Format
	body   string
	want   dialect.Request
}

// formatCases are a request of every kind of API; the text in them is written abc, de and so on, so that its bytes
// can be counted.
var formatCases = map[string]formatCase{
	"gemini": {
		dialect.FormatGenerate,
		`{"contents":[{"role":"u","parts":[{"text":"abc"},{"thought":true,"text":"de","thoughtSignature":"AAAA"}]}],"systemInstruction":{"parts":[{"text":"fgh"}]},
		"generationConfig":{"maxOutputTokens":100,"candidateCount":3,"temperature":1,"thinkingConfig":{"thinkingBudget":9999},"responseSchema":{"type":"STRING"}},
		"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT"}],"cachedContent":"cachedContents/x","toolConfig":{"x":"y"}}`,
		dialect.Request{TextBytes: 1 + 3 + 2 + 3 + 17, MaxOutputTokens: 100, Choices: 3, Continues: true},
	},
	"gemini in snake case": {
		dialect.FormatGenerate,
		`{"contents":{"parts":{"text":"abc"}},"system_instruction":{"parts":[{"text":"de"}]},"generation_config":{"max_output_tokens":"50","candidate_count":2,"response_json_schema":{}}}`,
		dialect.Request{TextBytes: 3 + 2 + 2, MaxOutputTokens: 50, Choices: 2},
	},
	"gemini tools": {
		dialect.FormatGenerate,
		`{"tools":[{"functionDeclarations":[{"name":"f"}]}],"contents":[{"parts":[{"functionCall":{"name":"f","args":{"a":[1, 2]}}},{"functionResponse":{"name":"f","response":{"x":"y"}}}]}]}`,
		dialect.Request{TextBytes: 41 + 1 + 11 + 1 + 9},
	},
	"gemini code": {
		dialect.FormatGenerate,
		`{"contents":[{"parts":[{"executableCode":{"language":"P","code":"abc"}},{"codeExecutionResult":{"outcome":"OK","output":"de"}}]}]}`,
		dialect.Request{TextBytes: 1 + 3 + 2 + 2},
	},
	"gemini embedding":    {dialect.FormatGenerate, `{"model":"models/e","content":{"parts":[{"text":"abc"}]},"taskType":"X"}`, dialect.Request{Model: "models/e", TextBytes: 3}},
	"gemini embeddings":   {dialect.FormatGenerate, `{"requests":[{"content":{"parts":[{"text":"abc"}]}},{"content":{"parts":[{"text":"de"}]}}]}`, dialect.Request{TextBytes: 5}},
	"vertex prediction":   {dialect.FormatGenerate, `{"instances":[{"content":"abc"}],"parameters":{"maxOutputTokens":7,"sampleCount":2}}`, dialect.Request{TextBytes: 3, MaxOutputTokens: 7, Choices: 2}},
	"vertex picture":      {dialect.FormatGenerate, `{"instances":[{"prompt":"abc","image":{"bytesBase64Encoded":"AAAA","mimeType":"image/png"}}]}`, dialect.Request{TextBytes: 3, MediaTokens: costs.Image}},
	"gemini file":         {dialect.FormatGenerate, `{"contents":[{"parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v.mp4"},"videoMetadata":{"startOffset":"1s"}}]}]}`, dialect.Request{MediaTokens: costs.Video}},
	"gemini file, snaked": {dialect.FormatGenerate, `{"contents":[{"parts":[{"file_data":{"file_uri":"gs://b/a.wav","mime_type":"audio/wav"}}]}]}`, dialect.Request{MediaTokens: costs.Audio}},
	"gemini file of no type": {
		dialect.FormatGenerate, `{"contents":[{"parts":[{"fileData":{"fileUri":"https://x"}}]}]}`, dialect.Request{MediaTokens: costs.Document},
	},
	"gemini text in base64": {dialect.FormatGenerate, `{"contents":[{"parts":[{"inlineData":{"mimeType":"text/csv","data":"YWJjZGVm"}}]}]}`, dialect.Request{TextBytes: 6}},

	"converse": {
		dialect.FormatConverse,
		`{"system":[{"text":"abc"},{"cachePoint":{"type":"default"}}],"messages":[{"role":"u","content":[{"text":"de"},{"reasoningContent":{"reasoningText":{"text":"f","signature":"AAAA"}}},
		{"guardContent":{"text":{"text":"gh"}}},{"cachePoint":{"type":"default"}}]}],"inferenceConfig":{"maxTokens":300,"temperature":0.5},"additionalModelRequestFields":{"top_k":200},
		"guardrailConfig":{"guardrailIdentifier":"xyz"},"requestMetadata":{"a":"b"},"performanceConfig":{"latency":"standard"}}`,
		dialect.Request{TextBytes: 3 + 1 + 2 + 1 + 2, MaxOutputTokens: 300, MarksCache: true},
	},
	"converse tools": {
		dialect.FormatConverse,
		`{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]},"messages":[{"content":[{"toolUse":{"toolUseId":"t","name":"f","input":{"a":1}}}]},
		{"content":[{"toolResult":{"toolUseId":"t","content":[{"json":{"b":2}},{"text":"abc"},{"image":{"format":"p","source":{"bytes":"AAAA"}}}],"status":"ok"}}]}]}`,
		dialect.Request{TextBytes: 63 + 2 + 7 + 1 + 7 + 3 + 2, MediaTokens: costs.Image},
	},
	"converse documents": {
		dialect.FormatConverse,
		`{"messages":[{"content":[{"document":{"format":"p","name":"a","source":{"bytes":"AAAA"},"context":"bcd"}},{"document":{"format":"t","name":"e","source":{"text":"abcdef"}}},
		{"document":{"source":{"content":[{"text":"abc"}]}}},{"document":{"source":{"s3Location":{"uri":"s3://b/k","bucketOwner":"1"}}}}]}]}`,
		dialect.Request{TextBytes: 1 + 1 + 3 + 1 + 1 + 6 + 3, MediaTokens: 2 * costs.Document},
	},
	"converse video and audio": {
		dialect.FormatConverse,
		`{"messages":[{"content":[{"video":{"format":"mp4","source":{"s3Location":{"uri":"s3://b/k"}}}},{"audio":{"format":"wav","source":{"bytes":"AAAA"}}}]}]}`,
		dialect.Request{MediaTokens: costs.Video + costs.Audio},
	},
	"converse, the model's own maximum": {dialect.FormatConverse, `{"inferenceConfig":{"maxTokens":3},"additionalModelRequestFields":{"max_tokens":8}}`, dialect.Request{MaxOutputTokens: 8}},
	"converse, a prompt of its own":     {dialect.FormatConverse, `{"promptVariables":{"topic":{"text":"abc"}}}`, dialect.Request{TextBytes: 3}},

	"invoke, anthropic": {
		dialect.FormatInvoke,
		`{"anthropic_version":"bedrock-2023-05-31","max_tokens":64,"system":"abc","messages":[{"role":"u","content":[{"type":"text","text":"de"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`,
		dialect.Request{TextBytes: 3 + 1 + 4 + 2 + 5, MediaTokens: costs.Image, MaxOutputTokens: 64},
	},
	"invoke, titan":            {dialect.FormatInvoke, `{"inputText":"abc","textGenerationConfig":{"maxTokenCount":512,"stopSequences":["x"]}}`, dialect.Request{TextBytes: 3, MaxOutputTokens: 512}},
	"invoke, titan embedding":  {dialect.FormatInvoke, `{"inputText":"abc","inputImage":"AAAAAAAA","dimensions":256}`, dialect.Request{TextBytes: 3, MediaTokens: costs.Image}},
	"invoke, nova":             {dialect.FormatInvoke, `{"schemaVersion":"messages-v1","system":[{"text":"a"}],"messages":[{"content":[{"text":"bc"},{"image":{"format":"png","source":{"bytes":"AAAA"}}}]}],"inferenceConfig":{"max_new_tokens":5}}`, dialect.Request{TextBytes: 3, MediaTokens: costs.Image, MaxOutputTokens: 5}},
	"invoke, nova's new name":  {dialect.FormatInvoke, `{"messages":[],"inferenceConfig":{"maxTokens":6}}`, dialect.Request{MaxOutputTokens: 6}},
	"invoke, llama":            {dialect.FormatInvoke, `{"prompt":"abc","max_gen_len":32,"images":["AAAAAAAA"]}`, dialect.Request{TextBytes: 3, MediaTokens: costs.Image, MaxOutputTokens: 32}},
	"invoke, mistral":          {dialect.FormatInvoke, `{"prompt":"<s>[INST] a","max_tokens":9}`, dialect.Request{TextBytes: 11, MaxOutputTokens: 9}},
	"invoke, cohere":           {dialect.FormatInvoke, `{"message":"abc","chat_history":[{"role":"U","message":"de"}],"documents":[{"t":"s"}],"max_tokens":9}`, dialect.Request{TextBytes: 3 + 1 + 2 + 11, MaxOutputTokens: 9}},
	"invoke, cohere embedding": {dialect.FormatInvoke, `{"texts":["abc","de"],"input_type":"search_query","images":["data:image/png;base64,AAAA"]}`, dialect.Request{TextBytes: 5, MediaTokens: costs.Image}},
	"invoke, jurassic":         {dialect.FormatInvoke, `{"prompt":"abc","maxTokens":11,"numResults":2}`, dialect.Request{TextBytes: 3, MaxOutputTokens: 11, Choices: 2}},
	"invoke, claude of old":    {dialect.FormatInvoke, `{"prompt":"abc","max_tokens_to_sample":12}`, dialect.Request{TextBytes: 3, MaxOutputTokens: 12}},
	"invoke, a picture":        {dialect.FormatInvoke, `{"taskType":"TEXT_IMAGE","textToImageParams":{"text":"abc"},"imageGenerationConfig":{"numberOfImages":3}}`, dialect.Request{TextBytes: 3, Choices: 3}},
	"invoke, nova embedding":   {dialect.FormatInvoke, `{"singleEmbeddingParams":{"image":{"format":"png","source":{"bytes":"AAAA"}},"text":{"value":"abc"}}}`, dialect.Request{TextBytes: 3, MediaTokens: costs.Image}},

	"cohere chat": {
		dialect.FormatCohere,
		`{"model":"c","stream":true,"messages":[{"role":"u","content":"abc"},{"role":"a","tool_plan":"de","tool_calls":[{"function":{"arguments":"{}"}}]},{"role":"t","content":[{"type":"document","document":{"data":"fgh"}}]}],
		"documents":[{"id":"1","data":{"t":"x"}}, "abc"],"tools":[],"max_tokens":40,"citation_options":{"mode":"FAST"},"safety_mode":"NONE","thinking":{"token_budget":9999}}`,
		dialect.Request{Model: "c", Stream: true, TextBytes: 1 + 3 + 1 + 2 + 2 + 1 + 8 + 3 + 35 + 2, MaxOutputTokens: 40},
	},
	"cohere chat of old": {
		dialect.FormatCohere,
		`{"message":"abc","chat_history":[{"role":"U","message":"de"}],"preamble":"f","documents":[{"title":"x"}],"connectors":[{"id":"web-search"}],"tool_results":[{"outputs":[{"a":"b"}]}],"max_tokens":4,"num_generations":2}`,
		dialect.Request{TextBytes: 3 + 1 + 2 + 1 + 15 + 25, MaxOutputTokens: 4, Choices: 2},
	},
	"cohere picture":    {dialect.FormatCohere, `{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}}]}]}`, dialect.Request{TextBytes: 9, MediaTokens: costs.Image}},
	"cohere embedding":  {dialect.FormatCohere, `{"model":"e","texts":["abc"],"images":["data:image/png;base64,AAAA"],"inputs":[{"content":[{"type":"text","text":"de"},{"type":"image_url","image_url":{"url":"data:x"}}]}],"embedding_types":["float"]}`, dialect.Request{Model: "e", TextBytes: 3 + 4 + 2 + 9, MediaTokens: 2 * costs.Image}},
	"cohere reranking":  {dialect.FormatCohere, `{"model":"r","query":"abc","documents":["de","f"],"top_n":3}`, dialect.Request{Model: "r", TextBytes: 3 + 10}},
	"cohere generation": {dialect.FormatCohere, `{"prompt":"abc"}`, dialect.Request{TextBytes: 3}},

	"ollama chat": {
		dialect.FormatOllama,
		`{"model":"l","messages":[{"role":"u","content":"abc","images":["AAAAAAAA","BBBBBBBB"]},{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}],"tools":[{}],"format":{"type":"object"},"options":{"num_predict":42,"num_ctx":8192},"keep_alive":"5m"}`,
		dialect.Request{Model: "l", Stream: true, TextBytes: 1 + 3 + 1 + 7 + 4 + 17, MediaTokens: 2 * costs.Image, MaxOutputTokens: 42},
	},
	"ollama generation": {
		dialect.FormatOllama,
		`{"model":"l","prompt":"abc","suffix":"d","system":"ef","images":["AAAAAAAA"],"context":[101,102],"format":"json","stream":false,"raw":true,"template":"x","options":{"num_predict":-1}}`,
		dialect.Request{Model: "l", TextBytes: 3 + 1 + 2 + 6 + 6, MediaTokens: costs.Image},
	},
	"ollama by default a stream": {dialect.FormatOllama, `{"model":"l"}`, dialect.Request{Model: "l", Stream: true}},

	"tgi":            {dialect.FormatTGI, `{"inputs":"abc","parameters":{"max_new_tokens":20,"best_of":2,"stop":["x"]},"stream":true}`, dialect.Request{Stream: true, TextBytes: 3, MaxOutputTokens: 20, Choices: 2}},
	"tgi picture":    {dialect.FormatTGI, `{"inputs":"a![](data:image/png;base64,AAAAAAAA)b\n![](https://x)"}`, dialect.Request{TextBytes: int64(len("a![]()b\n![](https://x)")), MediaTokens: costs.Image}},
	"tgi embeddings": {dialect.FormatTGI, `{"inputs":["abc","de"],"truncate":true}`, dialect.Request{TextBytes: 5}},
	"tgi reranking":  {dialect.FormatTGI, `{"query":"abc","texts":["de"]}`, dialect.Request{TextBytes: 5}},

	"azure, own data": {
		dialect.FormatChat,
		`{"messages":[{"content":"abc"}],"max_tokens":5,"data_sources":[{"type":"azure_search","parameters":{"endpoint":"https://s","index_name":"i","authentication":{"type":"api_key","key":"secret"}}}]}`,
		dialect.Request{TextBytes: 3, MaxOutputTokens: 5},
	},
	"mistral":           {dialect.FormatChat, `{"messages":[{"content":[{"type":"document_url","document_url":"https://x/a.pdf","document_name":"a"},{"type":"image_url","image_url":"https://x/a.png"},{"type":"input_audio","input_audio":"AAAA"}]}]}`, dialect.Request{TextBytes: 12 + 1 + 9 + 11, MediaTokens: costs.Document + costs.Image + costs.Audio}},
	"mistral, filling":  {dialect.FormatChat, `{"model":"codestral","prompt":"abc","suffix":"de","max_tokens":6}`, dialect.Request{Model: "codestral", TextBytes: 5, MaxOutputTokens: 6}},
	"mistral, reading":  {dialect.FormatChat, `{"model":"ocr","document":{"type":"document_url","document_url":"https://x"}}`, dialect.Request{Model: "ocr", TextBytes: 12, MediaTokens: costs.Document}},
	"video by URL":      {dialect.FormatChat, `{"messages":[{"content":[{"type":"video_url","video_url":{"url":"https://x"}}]}]}`, dialect.Request{TextBytes: 9, MediaTokens: costs.Video}},
	"a chat of schemas": {dialect.FormatChat, `{"response_format":{"type":"json_object"},"functions":[{"name":"f"}],"metadata":{"a":"b"},"audio":{"voice":"x"},"text":{"x":"y"}}`, dialect.Request{TextBytes: 22 + 14}},

	"responses": {
		dialect.FormatResponses,
		`{"model":"o","input":[{"type":"message","role":"u","content":[{"type":"input_text","text":"abc"}]},{"type":"reasoning","encrypted_content":"AAAAAAAA","summary":[]},{"type":"function_call","name":"f","arguments":"{}","call_id":"c"}],
		"text":{"format":{"type":"text"}},"tools":[],"max_output_tokens":77,"previous_response_id":"resp_1","truncation":"auto"}`,
		dialect.Request{Model: "o", TextBytes: 7 + 1 + 10 + 3 + 9 + 6 + 13 + 1 + 2 + 1 + 26 + 2, MaxOutputTokens: 77, Continues: true},
	},
	"responses, continued": {dialect.FormatResponses, `{"input":"abc","conversation":{"id":"conv_1"}}`, dialect.Request{TextBytes: 3, Continues: true}},
	"responses, begun":     {dialect.FormatResponses, `{"input":"abc","previous_response_id":null}`, dialect.Request{TextBytes: 3}},
	"responses, a drawing": {dialect.FormatResponses, `{"input":[{"result":"AAAAAAAAAAAA","type":"image_generation_call"},{"type":"x","result":"abc"}]}`, dialect.Request{TextBytes: 21 + 1 + 3, MediaTokens: costs.Image}},
	"responses, by file":   {dialect.FormatResponses, `{"input":[{"content":[{"file_id":"f","type":"input_image"},{"type":"input_file","file_url":"https://x"}]}]}`, dialect.Request{TextBytes: 11 + 10, MediaTokens: costs.Image + costs.Document}},
	"responses, a screen":  {dialect.FormatResponses, `{"input":[{"output":{"type":"s","image_url":"data:image/png;base64,AAAA"}}]}`, dialect.Request{TextBytes: 1, MediaTokens: costs.Image}},

	"messages, a container": {
		dialect.FormatMessages,
		`{"container":{"id":"container_1"},"mcp_servers":[{"type":"url","url":"https://x","authorization_token":"secret"}],"messages":[{"content":[{"type":"container_upload","file_id":"file_1"}]}],"max_tokens":3}`,
		dialect.Request{TextBytes: 16, MaxOutputTokens: 3},
	},
	"messages, a document turned round": {dialect.FormatMessages, `{"messages":[{"content":[{"source":{"url":"https://x","type":"url"},"type":"document","title":"a"}]}]}`, dialect.Request{TextBytes: 9, MediaTokens: costs.Document}},
	"messages, a content source":        {dialect.FormatMessages, `{"messages":[{"content":[{"type":"document","source":{"type":"content","content":"abc"}}]}]}`, dialect.Request{TextBytes: 11}},

	"messages, cached by itself": {dialect.FormatMessages, `{"cache_control":{"type":"ephemeral"}}`, dialect.Request{MarksCache: true}},
	"messages, a cached part":    {dialect.FormatMessages, `{"system":[{"type":"text","text":"abc","cache_control":{"type":"ephemeral"}}]}`, dialect.Request{TextBytes: 7, MarksCache: true}},
	"messages, a cached tool":    {dialect.FormatMessages, `{"tools":[{"name":"f","cache_control":{"type":"ephemeral"}}]}`, dialect.Request{TextBytes: 14, MarksCache: true}},
	"messages, no cache":         {dialect.FormatMessages, `{"system":[{"text":"abc","cache_control":null}]}`, dialect.Request{TextBytes: 3}},

	"the largest of several":     {dialect.FormatChat, `{"max_completion_tokens":9,"max_tokens":70,"max_output_tokens":8,"best_of":1,"n":4}`, dialect.Request{MaxOutputTokens: 70, Choices: 4}},
	"escaped digits":             {dialect.FormatGenerate, `{"generationConfig":{"candidateCount":"7\u0037"}}`, dialect.Request{Choices: 77}},
	"absurd numbers":             {dialect.FormatGenerate, `{"generationConfig":{"maxOutputTokens":1e300,"candidateCount":"99999999999999999999"}}`, dialect.Request{MaxOutputTokens: 1 << 53, Choices: 1 << 53}},
	"negative numbers":           {dialect.FormatConverse, `{"inferenceConfig":{"maxTokens":-7}}`, dialect.Request{}},
	"settings of the wrong type": {dialect.FormatOllama, `{"options":[{"num_predict":7}],"stream":0}`, dialect.Request{}},
	"a float":                    {dialect.FormatConverse, `{"inferenceConfig":{"maxTokens":512.0}}`, dialect.Request{MaxOutputTokens: 512}},
}

// TestEveryFormatIsRead: model, stream, maximum, multiplier, text and media of each API's own shape.
func TestEveryFormatIsRead(t *testing.T) {
	covered := map[dialect.Format]bool{}
	for name, tc := range formatCases {
		covered[tc.format] = true
		t.Run(name, func(t *testing.T) {
			got := stated(t, ReadAs(dialect.Operation{Format: tc.format}, "application/json", []byte(tc.body), costs))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for format := range formats {
		if !covered[format] {
			t.Errorf("no case of %s", format)
		}
	}
}

// TestNamesMeanWhatTheirFormatSays: the same name is a prompt, a setting or nothing.
func TestNamesMeanWhatTheirFormatSays(t *testing.T) {
	body := []byte(`{"text":"abcdef","options":{"num_predict":3},"parameters":{"max_new_tokens":4},"images":["AAAA"],"documents":[],"stream":true}`)
	for format, want := range map[dialect.Format]dialect.Request{
		dialect.FormatChat:      {Stream: true, TextBytes: 2},
		dialect.FormatResponses: {Stream: true, TextBytes: 8},
		dialect.FormatMessages:  {Stream: true},
		dialect.FormatGenerate:  {},
		dialect.FormatConverse:  {},
		dialect.FormatInvoke:    {Stream: true, TextBytes: 2, MediaTokens: costs.Image},
		dialect.FormatCohere:    {Stream: true, TextBytes: 2, MediaTokens: costs.Image},
		dialect.FormatOllama:    {Stream: true, MaxOutputTokens: 3, MediaTokens: costs.Image},
		dialect.FormatTGI:       {Stream: true, MaxOutputTokens: 4},
		"":                      {Stream: true, TextBytes: 10},
	} {
		if got := stated(t, ReadAs(dialect.Operation{Format: format}, "", body, costs)); got != want {
			t.Errorf("%q: %+v, want %+v", format, got, want)
		}
	}
}

// TestEmbeddingsAreNoStreams: not even where everything else streams by default.
func TestEmbeddingsAreNoStreams(t *testing.T) {
	op := dialect.Operation{Name: "embeddings", Format: dialect.FormatOllama}
	want := dialect.Request{Model: "e", TextBytes: 5}
	if got := stated(t, ReadAs(op, "", []byte(`{"model":"e","input":["abc","de"]}`), costs)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
