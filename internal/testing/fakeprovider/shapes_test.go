// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider_test

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider/shapes"
)

// request is a call that has a key wherever any provider looks for one.
func request(s shapes.Shape, path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, s.At(path), strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer sk-test")
	return r
}

// TestGoldenShapesOfEachProvider pins every byte of a document, a stream, and each kind of failure.
func TestGoldenShapesOfEachProvider(t *testing.T) {
	for _, s := range shapes.All() {
		t.Run(s.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				for _, tc := range []struct {
					title      string
					path, body string
					percent    float64
					fault      fakeprovider.FaultKind
				}{
					{title: "document", path: s.Path, body: s.Body, percent: 100},
					{title: "stream", path: s.StreamPath, body: s.StreamBody, percent: 100},
					{title: "throttled", path: s.Path, body: s.Body},
					{title: "throttled stream", path: s.StreamPath, body: s.StreamBody},
					{title: "without money", path: s.Path, body: s.Body, percent: 100, fault: fakeprovider.FaultQuota},
					{title: "overloaded", path: s.Path, body: s.Body, percent: 100, fault: fakeprovider.FaultOverload},
					{title: "overloaded in mid-stream", path: s.StreamPath, body: s.StreamBody, percent: 100, fault: fakeprovider.FaultStreamOverload},
					{title: "bad request", path: s.Path, body: "{}", percent: 100},
					{title: "no such path", path: "/none", body: "{}", percent: 100},
				} {
					provider := fakeprovider.New(fakeprovider.Options{})
					provider.SetLevel("", tc.percent)
					if tc.fault != "" {
						inject(t, provider, fakeprovider.Fault{Kind: tc.fault, AfterContent: 1})
					}
					w := httptest.NewRecorder()
					provider.ServeHTTP(w, request(s, tc.path, tc.body))
					fmt.Fprintf(&out, "== %s\n%s\n", tc.title, readable(t, w))
				}
				compareGolden(t, "shape-"+s.Name, out.Bytes())
			})
		})
	}
}

// readable is an answer as text: the messages of an event stream are written out.
func readable(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d\n", w.Code)
	if err := w.Header().Write(&out); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if kind != "application/vnd.amazon.eventstream" {
		out.Write(w.Body.Bytes())
		return bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n"))
	}
	decoder := eventstream.NewDecoder()
	for w.Body.Len() > 0 {
		message, err := decoder.Decode(w.Body, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range message.Headers {
			fmt.Fprintf(&out, "%s=%s ", h.Name, h.Value)
		}
		fmt.Fprintf(&out, "%s\n", message.Payload)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("\r\n"), []byte("\n"))
}
