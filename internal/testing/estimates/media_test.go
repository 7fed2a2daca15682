// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package estimates

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/budget"
	"github.com/headgate-dev/headgate/internal/gateway/admission"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
	"github.com/headgate-dev/headgate/internal/plan"
)

// pictures is where each dialect's own API lets a picture stand: the path, and a body with %s.
var pictures = map[string]struct{ path, body string }{
	"openai":     {"/v1/chat/completions", `{"model":"gpt-5","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}]}`},
	"anthropic":  {"/v1/messages", `{"model":"claude-opus-4-5","max_tokens":64,"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}]}]}]}`},
	"gemini":     {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"parts":[{"inline_data":{"mime_type":"image/png","data":"%s"}}]}]}`},
	"bedrock":    {"/model/amazon.nova-pro-v1:0/converse", `{"messages":[{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"%s"}}}]}]}`},
	"cohere":     {"/v2/chat", `{"model":"command-a-vision","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}]}]}`},
	"selfhosted": {"/api/chat", `{"model":"llava","messages":[{"role":"user","content":"what is this?","images":["%s"]}]}`},
}

// TestC9APictureIsAdmittedAtOnce: one of 1.9 MB, by each dialect that has an API of its own, on an account of 50,000
// input tokens a minute; as text it would be impossible.
func TestC9APictureIsAdmittedAtOnce(t *testing.T) {
	r := chance(9)
	png := make([]byte, 1_900_000)
	for i := range png {
		png[i] = byte(r.Uint32())
	}
	for route, tc := range pictures {
		t.Run(route, func(t *testing.T) {
			d := registry.ByRoute(route)
			body := fmt.Appendf(nil, tc.body, base64.StdEncoding.EncodeToString(png))
			op := d.Operation("POST", tc.path)
			request := d.ReadRequest(op, "application/json", body)
			now := time.Now()
			gate := admission.New(admission.Options{Facts: d.Facts()}, plan.Route{Name: route, Limits: []plan.Limit{
				{Name: "input", Budget: plan.InputTokens, Amount: 50_000, WindowSeconds: 60, Burst: 50_000},
			}}, 1, now)
			defer gate.Close()
			ticket := &admission.Ticket{Metered: op.Metered, Arrival: now, Deadline: now.Add(time.Minute), Estimate: gate.Estimator().Of(&request)}
			verdict := gate.Enter(ticket, now)
			if verdict.State != budget.Admitted || !op.Metered || ticket.Estimate.Input < 100 || ticket.Estimate.Input > 3000 {
				t.Errorf("%+v: %+v of %+v", verdict, ticket.Estimate, request)
			}
			gate.ReleaseAt(ticket, admission.Settlement{Kind: admission.Rejected}, now)
		})
	}
}
