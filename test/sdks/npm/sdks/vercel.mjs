// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// What the two providers of the package ai have in common.
import { APICallError, generateText, RetryError, streamText } from "ai";

const request = (scenario, model, abortSignal) => ({
  model, prompt: "a few c4n4ryPrompt words", maxOutputTokens: scenario.maxTokens, abortSignal, ...scenario.options,
});

export async function call(model, scenario, signal) {
  const answer = await generateText(request(scenario, model(scenario.model), signal));
  return { text: answer.text, outputTokens: answer.usage.outputTokens };
}

export async function* stream(model, scenario, signal) {
  let failure;
  const answer = streamText({ ...request(scenario, model(scenario.model), signal), onError: ({ error }) => { failure = error; } });
  for await (const text of answer.textStream) yield { text };
  if (failure) throw failure;
  if (!signal.aborted) yield { outputTokens: (await answer.usage).outputTokens };
}

// With its retries on, the SDK raises a RetryError of which the last error is the provider's.
export function wait(error) {
  const last = RetryError.isInstance(error) ? error.lastError : error;
  return APICallError.isInstance(last) && last.statusCode === 429 ? Number(last.responseHeaders["retry-after"]) : undefined;
}
