// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"io"
	"net/http"
	"testing"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestNoWritingLeadsPastAModelsLimit: whichever of the models that a body names its provider takes, their limits count the
// call; and a body of which nobody here knows the model counts for all of them.
func TestNoWritingLeadsPastAModelsLimit(t *testing.T) {
	const json = "application/json"
	for name, tc := range map[string]struct {
		kind, body string
		free       bool
	}{
		"plain":                      {json, `{"model":"dear","messages":[]}`, false},
		"another model":              {json, `{"model":"cheap","messages":[]}`, true},
		"no model":                   {json, `{"messages":[]}`, true},
		"the first of two":           {json, `{"model":"dear","model":"cheap"}`, false},
		"the last of two":            {json, `{"model":"cheap","model":"dear"}`, false},
		"in capital letters":         {json, `{"MODEL":"dear"}`, false},
		"in capital letters, beside": {json, `{"model":"cheap","Model":"dear"}`, false},
		"one of a list":              {json, `{"model":"cheap","models":["cheap","dear"]}`, false},
		"a list and no model":        {json, `{"models":["dear"]}`, false},
		"of more models than kept":   {json, `{"models":["a","b","c","d","e","f","dear"]}`, false},
		"of the type of a medium":    {"audio/wav", `{"model":"dear"}`, false},
		"of the type of a form":      {"multipart/form-data; boundary=b", `{"model":"dear"}`, false},
		"as an array":                {json, `[{"model":"dear"}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			provider, _ := arrivals(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
			limit := perMinute("dear", plan.Requests, 1)
			limit.Models = []string{"dear*"}
			simulate(t, provider, onePolicy(routeTo("openai", "OpenAI", limit, perMinute("all", plan.Requests, 100))), func(w *world) {
				const path = "/openai/v1/chat/completions"
				headers := []string{"Content-Type", tc.kind, HeaderDeadline, "0s"}
				if a := w.post(path, tc.body, headers...); a.status != http.StatusOK {
					t.Fatalf("answer %d %s", a.status, a.body)
				}
				want := http.StatusTooManyRequests
				if tc.free {
					want = http.StatusOK
				}
				if a := w.post(path, `{"model":"dear","messages":[]}`, HeaderDeadline, "0s"); a.status != want {
					t.Errorf("after it a call to the limited model: answer %d %s, want %d", a.status, a.body, want)
				}
				w.atRest()
			})
		})
	}
}
