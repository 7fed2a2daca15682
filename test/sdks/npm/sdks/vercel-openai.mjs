// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import { openai } from "@ai-sdk/openai";

export const client = () => openai;
export { call, stream, wait } from "./vercel.mjs";
