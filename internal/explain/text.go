// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// Text writes what a response says for a person. Of the response itself it repeats only the provider's message and
// code, which hold no keys.
func Text(w io.Writer, d dialect.Dialect, resp Response) error {
	r := Read(d, resp)
	p := &page{}
	p.summary(d, resp, r)
	p.budgets(d, r)
	if r.Class == dialect.ClassSuccess {
		p.success(d, r)
	} else {
		p.policy(d, resp, r)
		p.alone(d, resp, r)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// page is text in sections.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.WriteString(strings.TrimRight(text, " "))
	p.WriteByte('\n')
}

func (p *page) section(title string) {
	p.WriteByte('\n')
	p.line("%s", title)
}

// table writes rows in columns, indented.
func (p *page) table(rows [][]string) {
	var out strings.Builder
	t := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	for _, row := range rows {
		_, _ = fmt.Fprintln(t, "  "+strings.Join(row, "\t"))
	}
	_ = t.Flush()
	for line := range strings.Lines(out.String()) {
		p.line("%s", strings.TrimRight(line, " \n"))
	}
}

func (p *page) summary(d dialect.Dialect, resp Response, r Reading) {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", resp.Status, http.StatusText(resp.Status)))
	p.line("%s from %s: %s", status, d.Facts().Name, r.verdictOfClass())
	rows := [][]string{}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{name, value})
		}
	}
	add("class", className(r.Class))
	if r.InStream {
		add("where", r.where())
	}
	if r.Class != dialect.ClassSuccess {
		add("budget", r.namedBudget())
		add("wait", r.waitText())
		add("code", r.Failure.Code)
		add("message", r.Failure.Message)
	}
	if said := r.Reading.ShouldRetry; said != "" {
		add("x-should-retry", said+", which the provider tells its SDKs")
	}
	if r.Reading.Malformed != "" {
		add("note", fmt.Sprintf("%s cannot be read: ignored, which is not the same as 0", r.Reading.Malformed))
	}
	if r.hasDate(resp) && r.Reading.Reference.Sub(resp.Received).Abs() > clockNoise {
		add("note", fmt.Sprintf("times are measured against the response's own Date, %s %s the time of receipt",
			duration(r.Reading.Reference.Sub(resp.Received).Abs()), aheadOrBehind(r.Reading.Reference.After(resp.Received))))
	}
	p.table(rows)
}

// where says where a failure stands whose status is a success's.
func (r Reading) where() string {
	if !r.Stream {
		return "the body of a response whose status is a success's"
	}
	return "an event of a stream that began as a success, " + afterWhat(r.ContentSeen)
}

func afterWhat(contentSeen bool) string {
	if contentSeen {
		return "after some of the answer"
	}
	return "before any of the answer"
}

// hasDate: times are measured against the response's own clock.
func (r Reading) hasDate(resp Response) bool {
	return resp.Header.Get("Date") != "" && !r.Reading.Reference.Equal(resp.Received)
}

func aheadOrBehind(isAhead bool) string {
	if isAhead {
		return "after"
	}
	return "before"
}

// verdictOfClass says in words what the class means.
func (r Reading) verdictOfClass() string {
	switch r.Class {
	case dialect.ClassSuccess:
		return "a success"
	case dialect.ClassThrottle:
		return "a throttle; the call can go later"
	case dialect.ClassQuota:
		return "a quota or a credit is spent; retrying does not help"
	case dialect.ClassOverload:
		return "the provider lacks capacity, whatever your limits are"
	case dialect.ClassTransient:
		return "a failure that may pass by itself"
	default:
		return "a final answer; the same call fails again"
	}
}

// namedBudget is the budget that the response names, else those it shows as used up.
func (r Reading) namedBudget() string {
	if r.Failure.Budget != "" {
		return budgetNames[r.Failure.Budget] + ", which its message names"
	}
	var used []string
	for _, b := range r.Reading.Budgets {
		if b.Remaining == 0 {
			used = append(used, budgetName(b)+perWindow(b))
		}
	}
	switch {
	case len(used) > 0:
		return strings.Join(used, ", ") + ": nothing remains"
	case r.Class == dialect.ClassThrottle:
		return "not said which"
	}
	return ""
}

func perWindow(b dialect.BudgetReading) string {
	if b.Window == 0 {
		return ""
	}
	return " per " + windowName(b.Window)
}

func (r Reading) waitText() string {
	wait, source, ok := r.Reading.Wait(r.Class)
	switch {
	case ok:
		return duration(wait) + ", from " + sourceWords[source]
	case r.Class == dialect.ClassPermanent:
		return ""
	}
	return "none is stated"
}

var sourceWords = map[dialect.Source]string{
	dialect.SourceRetryAfterMillis:  "a header in milliseconds (retry-after-ms or a vendor's name for it)",
	dialect.SourceRetryAfterSeconds: "Retry-After in seconds",
	dialect.SourceRetryAfterDate:    "Retry-After as a date",
	dialect.SourceResetHeader:       "the reset of a budget",
	dialect.SourceBody:              "the body",
}
