// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package vertexai

import (
	"net/http"
	"strings"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/google"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/openai"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/urlpath"
)

// Dialect implements dialect.Dialect.
type Dialect struct{ google.Dialect }

var _ dialect.Dialect = Dialect{}

// Facts implements dialect.Dialect.
func (Dialect) Facts() facts.Facts {
	f, _ := facts.ByName("VertexAI")
	return f
}

// Path implements dialect.Dialect.
func (Dialect) Path(path string) string { return urlpath.Versioned(path, "/v1", "upload") }

// Operation implements dialect.Dialect.
func (d Dialect) Operation(method, path string) dialect.Operation {
	segments := resource(strings.Split(strings.Trim(d.Path(path), "/"), "/"))
	if len(segments) < 2 {
		return dialect.Operation{Name: "other"}
	}
	switch segments[0] {
	case "publishers":
		if len(segments) == 4 && segments[2] == "models" {
			return published(method, segments[1], segments[3])
		}
	case "models", "tunedModels":
		return published(method, "google", segments[1])
	case "endpoints":
		return endpoint(method, segments[1:])
	}
	return dialect.Operation{Name: "other"}
}

// resource is what stands behind the version, the project and the location.
func resource(segments []string) []string {
	segments = segments[1:]
	for _, collection := range [...]string{"projects", "locations"} {
		if len(segments) > 2 && segments[0] == collection {
			segments = segments[2:]
		}
	}
	return segments
}

// published is a method of a publisher's model.
func published(method, publisher, segment string) dialect.Operation {
	if google.IsRead(method) {
		return dialect.Operation{Name: "other", Free: true}
	}
	if method != http.MethodPost {
		return dialect.Operation{Name: "other"}
	}
	op := google.Method(segment)
	name, verb, _ := strings.Cut(strings.ReplaceAll(segment, "%3A", ":"), ":")
	if verb != "rawPredict" && verb != "streamRawPredict" {
		return op
	}
	return raw(op, publisher, name, verb == "streamRawPredict")
}

// raw is a call that goes to a publisher's model in that publisher's own format.
func raw(op dialect.Operation, publisher, name string, stream bool) dialect.Operation {
	switch {
	case publisher == "anthropic" && strings.HasPrefix(name, "count-tokens"):
		op.Free = true
	case publisher == "anthropic":
		op.Name, op.Format, op.Metered, op.Stream = "messages", dialect.FormatMessages, true, stream
	case publisher == "mistralai":
		// It reports usage by itself, so its name is not the one of a call that is asked for it.
		op.Name, op.Format, op.Metered, op.Stream = "generate", dialect.FormatChat, true, stream
	}
	return op
}

// endpoint is a call to a deployed model, or to the OpenAI API of all of them.
func endpoint(method string, segments []string) dialect.Operation {
	if len(segments) > 1 {
		return openai.OperationOf(method, strings.Join(segments[1:], "/"))
	}
	if method != http.MethodPost {
		return dialect.Operation{Name: "other"}
	}
	return google.Method(segments[0])
}
