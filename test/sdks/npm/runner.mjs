// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Plays scenarios with one SDK: a line of JSON in for each scenario, a line of JSON out for what came of it.
//
//   node runner.mjs openai < scenarios
//
// The environment is an app's: the API key, and the base URL variable that injection sets. A module of sdks/
// exports client(scenario), call(client, scenario, signal) and stream(client, scenario, signal), which yields
// {text, outputTokens} for each piece, and wait(error), the seconds that the SDK's own error says to wait.
import { createInterface } from "node:readline";

const sdk = await import(`./sdks/${process.argv[2]}.mjs`);
const now = () => performance.timeOrigin + performance.now();

for await (const line of createInterface({ input: process.stdin })) {
  const scenario = JSON.parse(line);
  Object.assign(process.env, scenario.env);
  const began = now();
  const outcome = await play(scenario).catch((error) => ({ error: describe(error) }));
  process.stdout.write(JSON.stringify({ ...outcome, tookMillis: now() - began }) + "\n");
}

async function play(scenario) {
  const controller = new AbortController();
  const giveUp = scenario.giveUpMillis && setTimeout(() => controller.abort(), scenario.giveUpMillis);
  try {
    const client = sdk.client(scenario);
    if (!scenario.stream) return await sdk.call(client, scenario, controller.signal);
    return await read(sdk.stream(client, scenario, controller.signal), scenario, controller);
  } finally {
    clearTimeout(giveUp);
  }
}

// read reads a stream to its end, or leaves it after its first text.
async function read(stream, scenario, controller) {
  const outcome = { text: "", pieces: 0, outputTokens: 0 };
  try {
    for await (const piece of stream) {
      outcome.pieces++;
      outcome.text += piece.text ?? "";
      outcome.outputTokens = piece.outputTokens ?? outcome.outputTokens;
      if (scenario.abort && outcome.text) {
        outcome.abortedUnixMillis = now();
        controller.abort();
      }
    }
  } catch (error) {
    if (!outcome.abortedUnixMillis) throw error;
  }
  return outcome;
}

// describe says what an app can see of an error.
function describe(error) {
  return {
    type: error.constructor.name,
    status: error.status ?? error.statusCode,
    message: String(error.message).slice(0, 500),
    waitSeconds: sdk.wait(error),
    abandoned: error.name === "AbortError" || undefined,
  };
}
