// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import Anthropic from "@anthropic-ai/sdk";

export const client = (scenario) => new Anthropic(scenario.options);

const request = ({ model, maxTokens }) => ({ model, max_tokens: maxTokens, messages: [{ role: "user", content: "a few c4n4ryPrompt words" }] });

export async function call(client, scenario, signal) {
  const answer = await client.messages.create(request(scenario), { signal });
  return { text: answer.content[0].text, outputTokens: answer.usage.output_tokens };
}

export async function* stream(client, scenario, signal) {
  const events = await client.messages.create({ ...request(scenario), stream: true }, { signal });
  for await (const event of events) yield { text: event.delta?.text, outputTokens: event.usage?.output_tokens };
}

export const wait = (error) => error instanceof Anthropic.RateLimitError ? Number(error.headers.get("retry-after")) : undefined;
