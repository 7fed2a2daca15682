// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import { ApiError, GoogleGenAI } from "@google/genai";

export const client = (scenario) => new GoogleGenAI({ ...scenario.options });

const request = ({ model, maxTokens }, abortSignal) => ({ model, contents: "a few c4n4ryPrompt words", config: { maxOutputTokens: maxTokens, abortSignal } });

const piece = (answer) => ({ text: answer.text, outputTokens: answer.usageMetadata?.candidatesTokenCount });

export const call = async (client, scenario, signal) => piece(await client.models.generateContent(request(scenario, signal)));

export async function* stream(client, scenario, signal) {
  for await (const chunk of await client.models.generateContentStream(request(scenario, signal))) yield piece(chunk);
}

// The error has no headers: the wait is in the body, where Google's own errors have it. Of an error in a stream, words stand before it.
export function wait(error) {
  if (!(error instanceof ApiError) || error.status !== 429) return undefined;
  const details = JSON.parse(error.message.slice(error.message.indexOf("{"))).error.details ?? [];
  return parseFloat(details.find((detail) => detail["@type"].endsWith("google.rpc.RetryInfo"))?.retryDelay);
}
