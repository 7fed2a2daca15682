// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import { AzureOpenAI } from "openai";

// It would take OPENAI_BASE_URL for Azure's, so that injection must leave that alone beside Azure's variables.
export const client = (scenario) => new AzureOpenAI(scenario.options);
export { call, wait } from "./openai.mjs";

export async function* stream(client, { model, maxTokens }, signal) {
  const messages = [{ role: "user", content: "a few c4n4ryPrompt words" }];
  const chunks = await client.chat.completions.create({ model, max_tokens: maxTokens, messages, stream: true }, { signal });
  // Azure's first chunk has no choice, only what its filters found in the prompt.
  for await (const chunk of chunks) yield { text: chunk.choices[0]?.delta.content };
}
