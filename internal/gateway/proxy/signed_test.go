// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/headgate-dev/headgate/internal/plan"
)

// routeTo is a route of a dialect with the defaults of a policy.
func routeTo(name, dialect string, limits ...plan.Limit) plan.Route {
	r := anthropicRoute(limits...)
	r.Name, r.Dialect = name, dialect
	return r
}

// arrived is a request as the provider saw it.
type arrived struct {
	uri    string
	header http.Header
	body   string
}

// arrivals answers every call with answer and keeps what came.
func arrivals(answer http.HandlerFunc) (http.Handler, func() arrived) {
	var last arrived
	s := scripted(func(_ int, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last = arrived{r.RequestURI, r.Header.Clone(), string(body)}
		answer(w, r)
	})
	return s, func() arrived { return last }
}

const signature = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261130/eu-central-1/bedrock/aws4_request, " +
	"SignedHeaders=accept-encoding;content-type;headgate-deadline;host;te;user-agent;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6"

// Whatever we would change in a request, a signed one arrives as it was signed; the same request with a bearer token
// shows that there was something to change.
func TestB6SignedRequestsPassAsTheyCame(t *testing.T) {
	const body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	provider, last := arrivals(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+chunkUsage+"\n\ndata: [DONE]\n\n")
	})
	simulate(t, provider, onePolicy(routeTo("bedrock", "Bedrock")), func(w *world) {
		const path = "/openai/v1//chat/completions"
		send := func(authorization string) (arrived, answer) {
			a := w.post("/bedrock"+path+"?x=%2F&a", body, "Authorization", authorization, "Accept-Encoding", "br, gzip",
				"X-Amz-Date", "20261130T022900Z", "Te", "trailers", "User-Agent", "aws-sdk-go-v2/1.41", HeaderDeadline, "30s")
			return last(), a
		}
		got, a := send(signature)
		if got.body != body || got.uri != path+"?x=%2F&a" {
			t.Errorf("arrived: %s %s", got.uri, got.body)
		}
		for name, want := range map[string]string{
			"Authorization": signature, "Accept-Encoding": "br, gzip", "Content-Type": "application/json", "Te": "trailers",
			"User-Agent": "aws-sdk-go-v2/1.41", "X-Amz-Date": "20261130T022900Z", HeaderDeadline: "30s",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s arrived as %q, want %q", name, got.header.Get(name), want)
			}
		}
		if a.status != http.StatusOK || !strings.Contains(a.body, chunkUsage) {
			t.Errorf("answer %d %q: an event nobody injected was taken out", a.status, a.body)
		}
		w.atRest()
		if tokens := w.figures("bedrock").tally.TokensByModel()["m"]; tokens.Output != 200 {
			t.Errorf("metered %+v", tokens)
		}
		plain, _ := send("Bearer key")
		if plain.body == body || plain.header.Get("Accept-Encoding") != "identity" || plain.header.Get(HeaderDeadline) != "" {
			t.Errorf("a request that is not signed arrived unchanged too: %+v", plain)
		}
		w.atRest()
	})
}

// Other schemes than AWS' cover the body too: what they have summed arrives as it was, and the chunk that was not asked
// for on anybody's behalf is not looked for.
func TestB6BodiesWithASumPassAsTheyCame(t *testing.T) {
	provider, last := arrivals(func(w http.ResponseWriter, _ *http.Request) { chat(w, true) })
	for name, header := range map[string][2]string{
		"a digest": {"Content-Digest", "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"}, "an older one": {"Content-MD5", "Q2hlY2sgSW50ZWdyaXR5IQ=="},
		"an HMAC": {"X-Acme-Signature", "7d38cdd6"}, "a signing scheme": {"Authorization", "TC3-HMAC-SHA256 Credential=A"}, "none": {"X-Other", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			simulate(t, provider, onePolicy(openaiRoute()), func(w *world) {
				const body = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
				a := w.post("/openai/v1/chat/completions", body, header[0], header[1])
				if same := last().body == body; same != (name != "none") {
					t.Errorf("arrived: %s", last().body)
				}
				if whole := strings.Contains(a.body, chunkUsage); a.status != http.StatusOK || whole != (name != "none") {
					t.Errorf("answer %d %q", a.status, a.body)
				}
				w.atRest()
			})
		})
	}
}

// The path of a model is escaped by the signer in his own way, and is part of what he signed.
func TestSignedPathsKeepTheirEscapes(t *testing.T) {
	provider, last := arrivals(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusOK, `{"output":{},"stopReason":"end_turn","usage":{"inputTokens":12,"outputTokens":3}}`)
	})
	simulate(t, provider, onePolicy(routeTo("bedrock", "Bedrock")), func(w *world) {
		for _, path := range []string{
			"/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse", "/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse",
			"/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A1%3Ainference-profile%2Feu.m/converse",
		} {
			if a := w.post("/bedrock"+path, `{"messages":[]}`, "Authorization", signature); a.status != http.StatusOK || last().uri != path {
				t.Errorf("%s arrived as %s: %d", path, last().uri, a.status)
			}
		}
		w.atRest()
		models := w.figures("bedrock").tally.TokensByModel()
		if models["anthropic.claude-sonnet-4-5-20250929-v1:0"].Input != 24 || models["arn:aws:bedrock:eu-central-1:1:inference-profile/eu.m"].Output != 3 {
			t.Errorf("metered %+v", models)
		}
		w.atRest()
	})
}

func compressed(coding, text string) []byte {
	return compressedBy(text, func(w io.Writer) io.WriteCloser {
		if coding == "br" {
			return brotli.NewWriterLevel(w, brotli.BestSpeed)
		}
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		return z
	})
}

func compressedBy(text string, coder func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	z := coder(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.Bytes()
}

// What an app asked for that may not be changed is metered all the same, within bounds.
func TestCompressedAnswersToSignedRequestsAreMetered(t *testing.T) {
	const document = `{"output":{"message":{"content":[{"text":"hi"}]}},"stopReason":"end_turn","usage":{"inputTokens":120,"outputTokens":30}}`
	// One is enough: the bound is the same for both.
	wide := compressedBy(document, func(w io.Writer) io.WriteCloser {
		return brotli.NewWriterOptions(w, brotli.WriterOptions{Quality: 1, LGWin: 24})
	})
	bomb := map[string][]byte{"gzip": compressed("gzip", strings.Repeat(" ", maxUncompressed+1<<20)+document), "br": nil}
	for _, coding := range []string{"br", "gzip"} {
		for name, tc := range map[string]struct {
			body []byte
			want uint64
		}{
			"whole":         {compressed(coding, document), 120},
			"a bomb":        {bomb[coding], 0},
			"a wide window": {wide, 0},
			"junk":          {[]byte("\x1b\x0f\xff junk that is not compressed at all"), 0},
		} {
			t.Run(coding+", "+name, func(t *testing.T) {
				provider, last := arrivals(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("Content-Encoding", coding)
					_, _ = w.Write(tc.body)
				})
				simulate(t, provider, onePolicy(routeTo("bedrock", "Bedrock")), func(w *world) {
					a := w.post("/bedrock/model/m/converse", `{"messages":[]}`, "Authorization", signature, "Accept-Encoding", coding)
					if last().header.Get("Accept-Encoding") != coding || a.err != nil || a.body != string(tc.body) || a.header.Get("Content-Encoding") != coding {
						t.Errorf("the body changed: %d bytes of %d, %v %v", len(a.body), len(tc.body), a.header, a.err)
					}
					w.atRest()
					if got := w.figures("bedrock").tally.TokensByModel()["m"].Input; got != tc.want {
						t.Errorf("metered %d, want %d", got, tc.want)
					}
					w.atRest()
				})
			})
		}
	}
}
