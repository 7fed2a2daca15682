// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import { ChatOpenAI } from "@langchain/openai";

export const client = ({ model, maxTokens, options }) => new ChatOpenAI({ model, maxTokens, ...options });

export async function call(client, _, signal) {
  const answer = await client.invoke("a few c4n4ryPrompt words", { signal });
  return { text: answer.content, outputTokens: answer.usage_metadata.output_tokens };
}

export async function* stream(client, _, signal) {
  for await (const chunk of await client.stream("a few c4n4ryPrompt words", { signal })) {
    yield { text: chunk.content, outputTokens: chunk.usage_metadata?.output_tokens };
  }
}

export const wait = (error) => error.status === 429 ? Number(error.headers.get("retry-after")) : undefined;
