// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

// testRoute is a valid route.
func testRoute(name, dialectName string) Route {
	return Route{
		Name: name, Dialect: dialectName, BaseURL: "https://llm.example.com",
		Limits: []Limit{
			{Name: "requests", Budget: Requests, Amount: 4000, WindowSeconds: 60, Burst: 4000},
			{Name: "in-flight", Budget: InFlight, Amount: 8, Burst: 8},
		},
		Deadline: Deadline{DefaultMillis: 60_000},
		Throttle: Throttle{HonourCeilingMillis: 30_000, JitterPercent: 25, MaxAttempts: 3},
		Unguided: Backoff{BaseMillis: 500, CapMillis: 30_000},
		Overload: Overload{BaseMillis: 1000, CapMillis: 30_000, MaxAttempts: 4},
		Lanes: []Lane{
			{Name: "bulk", MinInputTokens: 20_000, SharePermille: 400, MaxDepth: 32, MaxWaitMillis: 50_000},
			{Name: DefaultLane, SharePermille: 600, MaxDepth: 256, MaxWaitMillis: 50_000},
		},
	}
}

// testPlan is a valid plan of two policies: one for app=a, one for all.
func testPlan() Plan {
	return Plan{
		Version: Version, Revision: 7, Namespace: "team",
		Policies: []Policy{
			{
				Name: "a", Generation: 1, MaxGateways: 4,
				Selector: []Term{{Key: "app", Operator: In, Values: []string{"a"}}},
				Routes:   []Route{testRoute("azure", "OpenAI")},
			},
			{
				Name: "all", Generation: 1, MaxGateways: 4,
				Routes: []Route{testRoute("openai", "OpenAI"), testRoute("other", "OpenAI"), testRoute("g", "Generic")},
			},
		},
	}
}
