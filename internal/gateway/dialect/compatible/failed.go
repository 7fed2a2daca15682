// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package compatible

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Failed is a response that is not a success, or an error inside a stream, which has a status that the same
// error would have had as a response, and neither headers nor budgets.
type Failed struct {
	Status   int
	Header   http.Header
	Budgets  []dialect.BudgetReading
	Document failure.Document
	InStream bool
}

// Says reports whether the message contains one of the texts, which are in lower case.
func (f Failed) Says(texts ...string) bool {
	message := strings.ToLower(f.Document.Message[:min(len(f.Document.Message), maxWords)])
	for _, text := range texts {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// Exhausted reports whether a bucket of a day or longer is used up: no wait of a call's length cures that.
func (f Failed) Exhausted() bool {
	for i := range f.Budgets {
		if b := &f.Budgets[i]; b.Window >= Day && b.Remaining == 0 {
			return true
		}
	}
	return false
}

// Forbidden reports whether a bucket's limit is nothing at all: the key has no allowance for what it called.
func (f Failed) Forbidden() bool {
	for i := range f.Budgets {
		if f.Budgets[i].Limit == 0 {
			return true
		}
	}
	return false
}

// maxWords bounds the prose that is searched.
const maxWords = 4 << 10

// words are how providers name a budget in prose; of several the first in the text counts, of several at one
// place the first here.
var words = [...]struct{ text, budget string }{
	{"input tokens per", plan.InputTokens},
	{"prompt tokens per", plan.InputTokens},
	{"output tokens per", plan.OutputTokens},
	{"generated tokens per", plan.OutputTokens},
	{"completion tokens per", plan.OutputTokens},
	{"tokens per", plan.Tokens},
	{"token rate limit", plan.Tokens},
	{"token limit", plan.Tokens},
	{"(tpm)", plan.Tokens},
	{"(tpd)", plan.Tokens},
	{"requests per", plan.Requests},
	{"request rate limit", plan.Requests},
	{"call rate limit", plan.Requests},
	{"queries per", plan.Requests},
	{"(rpm)", plan.Requests},
	{"(rpd)", plan.Requests},
	{"(rps)", plan.Requests},
}

// Budget is the budget a refusal names: OpenAI's type, or the first words in its message that name one.
func Budget(f Failed) string {
	if named := openai.Budget(f.Document); named != "" {
		return named
	}
	message := strings.ToLower(f.Document.Message[:min(len(f.Document.Message), maxWords)])
	named, at := "", len(message)
	for _, w := range words {
		if i := strings.Index(message, w.text); i >= 0 && i < at {
			named, at = w.budget, i
		}
	}
	return named
}

// document reads an error body. One that is nothing but a string is the message.
func document(h http.Header, body []byte) failure.Document {
	d := failure.Read(h, body)
	if d.Message == "" && !d.Error.Exists() {
		if text := gjson.ParseBytes(d.Text); text.Type == gjson.String {
			d.Message = text.Str
		}
	}
	return d
}

// eventStatus is the status an error inside a stream would have had: its own code, where that is one.
func eventStatus(d failure.Document) int {
	if code, err := strconv.Atoi(d.Code); err == nil && code >= http.StatusBadRequest && code < 600 {
		return code
	}
	return openai.EventStatus(d)
}

// Copied are headers that an error repeats as an object, for those who sit behind a proxy.
func (f Failed) Copied(path string) http.Header {
	h := http.Header{}
	f.Document.Error.Get(path).ForEach(func(name, value gjson.Result) bool {
		if len(h) < maxCopied {
			h.Set(name.Str, value.String())
		}
		return true
	})
	return h
}

// maxCopied bounds the headers that are read from a body.
const maxCopied = 32
