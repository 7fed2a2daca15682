// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package azureopenai

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/compatible"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/credential"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/reply"
)

// Dialect implements dialect.Dialect.
type Dialect struct{ compatible.Dialect }

var _ dialect.Dialect = Dialect{}

// queryKeys are the parameters that carry a key where a header cannot: API Management's and the realtime API's.
var queryKeys = []string{"subscription-key", "api-key"}

// SetCredential implements dialect.Dialect. A token of Entra ID is a JWT; everything else is a resource's key.
func (Dialect) SetCredential(h http.Header, query, key string) string {
	if key = credential.Clean(key); strings.HasPrefix(key, "eyJ") && strings.Count(key, ".") == 2 {
		credential.Replace(h, "Authorization", "Bearer "+key)
	} else {
		credential.Replace(h, "Api-Key", key)
	}
	return credential.WithoutQuery(query, queryKeys...)
}

// Fingerprint implements dialect.Dialect.
func (Dialect) Fingerprint(h http.Header, query string) uint64 {
	return credential.Fingerprint(h, query, queryKeys...)
}

// errorBody is Azure's error document: its code is the status, as a string.
type errorBody struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func refusalBody(status int, message string) []byte {
	return reply.JSON(errorBody{errorDetail{Code: strconv.Itoa(status), Message: message}})
}

// Refusal implements dialect.Dialect.
func (Dialect) Refusal(r dialect.Refusal) (int, http.Header, []byte) {
	status := reply.Status(r)
	return status, reply.Headers(r), refusalBody(status, r.Message)
}
