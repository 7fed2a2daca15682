// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Package browser opens pages in a real, headless Chromium, for tests of what people look at: whether a page loads
// without errors and without asking the network for anything, and how it is laid out.
//
// It speaks the DevTools protocol over a pair of pipes (--remote-debugging-pipe), so that there is no port to find
// and no websocket: the standard library is enough, and nothing else can talk to the browser. chromedp does more,
// at the price of generated bindings for the whole protocol; six of its methods are used here.
//
// Invariants: the browser, its profile and its processes end with the test that started it; every wait is bounded; a
// browser that is missing fails the test and says which package brings it.
//
// It is for tests only: nothing that ships may import it, and it imports the standard library alone.
package browser
