// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

import { anthropic } from "@ai-sdk/anthropic";

export const client = () => anthropic;
export { call, stream, wait } from "./vercel.mjs";
