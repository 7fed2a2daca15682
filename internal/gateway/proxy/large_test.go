// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestB12BodiesWithoutALengthAndLargeAnswersPass: an upload in chunks, and the 6 MB that embeddings come in.
func TestB12BodiesWithoutALengthAndLargeAnswersPass(t *testing.T) {
	document := `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[` + strings.Repeat("0.01234567,", 6<<20/11) +
		`0]}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}`
	s := scripted(func(_ int, w http.ResponseWriter, _ *http.Request) { fail(w, http.StatusOK, document) })
	simulate(t, s, onePolicy(openaiRoute(perMinute("tokens", plan.Tokens, 10_000_000))), func(w *world) {
		conn := w.dialled()
		defer func() { _ = conn.Close() }()
		body := `{"model":"m","input":"` + strings.Repeat("word ", 40_000) + `"}`
		go func() {
			_, _ = fmt.Fprint(conn, "POST /openai/v1/embeddings HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer sk-1\r\n"+
				"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
			chunks := httputil.NewChunkedWriter(conn)
			for rest := body; rest != ""; {
				n := min(len(rest), 7777)
				_, _ = io.WriteString(chunks, rest[:n])
				rest = rest[n:]
			}
			_ = chunks.Close()
			_, _ = io.WriteString(conn, "\r\n")
		}()
		answer, err := io.ReadAll(conn)
		head, got, _ := strings.Cut(string(answer), "\r\n\r\n")
		if !strings.HasPrefix(head, "HTTP/1.1 200") || err != nil {
			t.Fatalf("%v, answer %s", err, head)
		}
		if strings.Contains(head, "chunked") {
			whole, err := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(got)))
			if got = string(whole); err != nil {
				t.Fatal(err)
			}
		}
		if sha256.Sum256([]byte(got)) != sha256.Sum256([]byte(document)) {
			t.Errorf("%d bytes came of %d", len(got), len(document))
		}
		if sha256.Sum256([]byte(s.bodies[0])) != sha256.Sum256([]byte(body)) {
			t.Errorf("the provider got %d bytes of %d", len(s.bodies[0]), len(body))
		}
		if tokens := w.figures("openai").tally.TokensByModel()["m"]; tokens.Input != 7 {
			t.Errorf("counted %+v", tokens)
		}
		w.atRest()
	})
}
