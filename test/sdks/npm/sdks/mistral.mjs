// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import { Mistral } from "@mistralai/mistralai";
import { MistralError } from "@mistralai/mistralai/models/errors";

// No variable leads it anywhere: the app names the server.
export const client = (scenario) => new Mistral({ apiKey: process.env.MISTRAL_API_KEY, ...scenario.options });

const request = ({ model, maxTokens }) => ({ model, maxTokens, messages: [{ role: "user", content: "a few c4n4ryPrompt words" }] });

export async function call(client, scenario, signal) {
  const answer = await client.chat.complete(request(scenario), { fetchOptions: { signal } });
  return { text: answer.choices[0].message.content, outputTokens: answer.usage.completionTokens };
}

export async function* stream(client, scenario, signal) {
  const events = await client.chat.stream(request(scenario), { fetchOptions: { signal } });
  for await (const { data } of events) yield { text: data.choices[0].delta.content, outputTokens: data.usage?.completionTokens };
}

export const wait = (error) => error instanceof MistralError && error.statusCode === 429 ? Number(error.headers.get("retry-after")) : undefined;
