// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import "github.com/headgate-dev/headgate/internal/gateway/dialect"

// format is how a body is laid out.
type format struct {
	// top are the members of the body itself, set those of its objects of settings.
	top, set table
	// streams: the answer is a stream unless the body says otherwise.
	streams bool
	// quoted: numbers may stand in quotes.
	quoted bool
	// marked: text may hold pictures as Markdown does.
	marked bool
}

var formats = map[dialect.Format]*format{
	dialect.FormatChat:      {top: chatMembers},
	dialect.FormatResponses: {top: responsesMembers},
	dialect.FormatMessages:  {top: messagesMembers},
	dialect.FormatGenerate:  {top: generateMembers, set: generateSettings, quoted: true},
	dialect.FormatConverse:  {top: converseMembers, set: invokeSettings},
	dialect.FormatInvoke:    {top: invokeMembers, set: invokeSettings},
	dialect.FormatCohere:    {top: cohereMembers},
	dialect.FormatOllama:    {top: ollamaMembers, set: table{"num_predict": maxTokens}, streams: true},
	dialect.FormatTGI:       {top: tgiMembers, set: tgiSettings, marked: true},
}

// unnamed reads bodies of which nobody has said what they are, as an API that copies others may have them.
var unnamed = &format{top: join(chatMembers, responsesMembers, messagesMembers, table{"contents": prompt})}

// join is the union of tables that do not contradict each other.
func join(tables ...table) table {
	all := table{}
	for _, t := range tables {
		for name, role := range t {
			all[name] = role
		}
	}
	return all
}

// chatMembers are also those of completions, embeddings and reranking, and what gateways, hosts and servers add
// that copy the API.
var chatMembers = table{
	"model": model, "models": models, "fallbacks": models, "stream": stream, "stream_options": streamOptions,
	"max_tokens": maxTokens, "max_completion_tokens": maxTokens, "max_output_tokens": maxTokens,
	"n": choices, "best_of": choices,
	"messages": prompt, "prompt": prompt, "system": prompt, "suffix": prompt, "input": prompt, "inputs": prompt,
	"instructions": prompt, "query": prompt, "texts": prompt, "document": document, "documents": schema,
	"tools": schema, "functions": schema, "response_format": schema,
}

// responsesMembers are those of the responses API.
var responsesMembers = table{
	"model": model, "stream": stream, "stream_options": streamOptions, "max_output_tokens": maxTokens,
	"input": prompt, "instructions": prompt, "prompt": prompt, "tools": schema, "text": schema,
	"previous_response_id": stored, "conversation": stored,
}

// messagesMembers are those of messages, and of the text completions before them.
var messagesMembers = table{
	"model": model, "stream": stream, "max_tokens": maxTokens, "max_tokens_to_sample": maxTokens,
	"messages": prompt, "system": prompt, "prompt": prompt, "tools": schema, "cache_control": cacheMark,
	"output_format": schema, "output_config": schema,
}

// generateMembers are those of generateContent, of embedding one content or several, and of predict.
var generateMembers = table{
	"model": model, "contents": prompt, "content": prompt, "requests": prompt, "instances": prompt,
	"systemInstruction": prompt, "system_instruction": prompt, "tools": schema,
	"generationConfig": settings, "generation_config": settings, "parameters": settings,
	"cachedContent": stored, "cached_content": stored,
}

var generateSettings = table{
	"maxOutputTokens": maxTokens, "max_output_tokens": maxTokens,
	"candidateCount": choices, "candidate_count": choices, "sampleCount": choices,
	"responseSchema": schema, "response_schema": schema, "responseJsonSchema": schema, "response_json_schema": schema,
}

// converseMembers are those of Converse. What is passed on to the model may state a maximum too.
var converseMembers = table{
	"messages": prompt, "system": prompt, "promptVariables": prompt, "toolConfig": schema, "outputConfig": schema,
	"inferenceConfig": settings, "additionalModelRequestFields": settings,
}

// invokeMembers are those of the models' own bodies: Anthropic's and Nova's messages, Titan's text and embeddings,
// Llama's, Mistral's, Cohere's and AI21's prompts, and their embeddings.
var invokeMembers = join(converseMembers, invokeSettings, table{
	"stream": stream, "prompt": prompt, "suffix": prompt, "inputText": prompt, "inputImage": image, "images": image,
	"image": image, "message": prompt, "chat_history": prompt, "preamble": prompt, "documents": schema,
	"tools": schema, "tool_results": schema, "response_format": schema, "texts": prompt, "inputs": prompt,
	"input": prompt, "query": prompt, "text_prompts": prompt, "textToImageParams": prompt,
	"singleEmbeddingParams": prompt, "segmentedEmbeddingParams": prompt, "mediaSource": source,
	"textGenerationConfig": settings, "imageGenerationConfig": settings,
})

// invokeSettings are the names of the largest output and the number of outputs, in the body or in its settings.
var invokeSettings = table{
	"max_tokens": maxTokens, "max_completion_tokens": maxTokens, "max_new_tokens": maxTokens,
	"max_tokens_to_sample": maxTokens, "max_gen_len": maxTokens, "maxTokens": maxTokens, "maxTokenCount": maxTokens,
	"n": choices, "num_generations": choices, "numResults": choices, "numberOfImages": choices,
}

// cohereMembers are those of chat in both versions, of embedding and of reranking.
var cohereMembers = table{
	"model": model, "stream": stream, "max_tokens": maxTokens, "num_generations": choices,
	"messages": prompt, "documents": schema, "tools": schema, "response_format": schema,
	"message": prompt, "chat_history": prompt, "preamble": prompt, "tool_results": schema, "prompt": prompt,
	"texts": prompt, "images": image, "inputs": prompt, "query": prompt,
}

// ollamaMembers are those of chat, generate and embed. The format is a word or a schema.
var ollamaMembers = table{
	"model": model, "stream": stream, "options": settings, "messages": prompt, "tools": schema, "format": schema,
	"prompt": prompt, "suffix": prompt, "system": prompt, "context": prompt, "images": image, "input": prompt,
}

// tgiMembers are those of generation, of embedding and of reranking.
var tgiMembers = table{
	"model": model, "stream": stream, "inputs": prompt, "parameters": settings, "query": prompt, "texts": prompt,
}

var tgiSettings = table{"max_new_tokens": maxTokens, "best_of": choices, "num_return_sequences": choices}
