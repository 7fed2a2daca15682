// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import OpenAI from "openai";

export const client = (scenario) => new OpenAI(scenario.options);

const request = ({ model, maxTokens }) => ({ model, max_tokens: maxTokens, messages: [{ role: "user", content: "a few c4n4ryPrompt words" }] });

export async function call(client, scenario, signal) {
  const answer = await client.chat.completions.create(request(scenario), { signal });
  return { text: answer.choices[0].message.content, outputTokens: answer.usage.completion_tokens };
}

export async function* stream(client, scenario, signal) {
  const chunks = await client.chat.completions.create({ ...request(scenario), stream: true }, { signal });
  // An app that takes the first choice of each chunk must not meet a chunk without one that it did not ask for.
  for await (const chunk of chunks) yield { text: chunk.choices[0].delta.content };
}

export const wait = (error) => error instanceof OpenAI.RateLimitError ? Number(error.headers.get("retry-after")) : undefined;
