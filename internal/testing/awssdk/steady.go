// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package awssdk

import (
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
)

// Steady is an option of Bedrock clients. When an answer is there, smithy-go closes the request's body, and the WriteTo
// of a closed body returns io.EOF, which io.Copy takes for an error. Where the answer came before net/http has asked the
// body for more than its stated length, it therefore drops the connection and the stream with it (one in fifty on the
// loopback address). A body without WriteTo is asked by Read, whose io.EOF means the end.
func Steady(o *bedrockruntime.Options) { o.HTTPClient = readBodies{o.HTTPClient} }

type readBodies struct{ next bedrockruntime.HTTPClient }

func (c readBodies) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.next.Do(r)
}
