// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the gateway beside a bare httputil.ReverseProxy (rp), and nginx and HAProxy where
// they are installed, in interleaved rounds of one run, and says which bars are met:
//
//	bench --gateway bin/gateway --fakeprovider bin/fakeprovider
//
// The gateway is as it is injected: it draws what it spends from a coordinator, test/bench/coordinator, with the plan of the
// controller's compiler. In the overload part it has its policy from a file and all of the limits.
//
// The proxy under test has one core to itself; the client, the provider and the coordinator have another. Client and
// provider, both in this process, are raw HTTP/1.1 over loopback, but for the provider behind TLS and HTTP/2. Ratios to rp
// are what counts: they repeat within about a quarter, absolute figures do not. Bars are printed as must and aim; bench fails
// only where it cannot measure, unless --strict.
//
// The overload part runs for 90 seconds beside the rest of nothing: four client processes of the official
// SDKs at 1.5 times what the account allows, once through one gateway and once straight at the provider.
package main
