// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/andybalholm/brotli"

	"github.com/headgate-dev/headgate/internal/explain"
	"github.com/headgate-dev/headgate/internal/gateway/dialect/registry"
)

const throttled = `{"error":{"message":"Please try again in 20s","type":"requests","code":"rate_limit_exceeded"}}`

func gzipped(text string) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return out.String()
}

func deflated(text string) string {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return out.String()
}

func brotlied(text string) string {
	var out bytes.Buffer
	z := brotli.NewWriter(&out)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return out.String()
}

func utf16LE(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// TestPastedResponses: everything a person would paste, or a program print, is read alike.
func TestPastedResponses(t *testing.T) {
	const head = "HTTP/1.1 429 Too Many Requests\nContent-Type: application/json\n"
	chunks := fmt.Sprintf("10\r\n%s\r\n%x;ext=1\r\n%s\r\n0\r\n\r\n", throttled[:16], len(throttled)-16, throttled[16:])
	cases := map[string]string{
		"LF":                       head + "\n" + throttled + "\n",
		"CRLF":                     strings.ReplaceAll(head, "\n", "\r\n") + "\r\n" + throttled,
		"blank lines before":       "\r\n\n" + head + "\n" + throttled,
		"a byte order mark":        "\ufeff" + head + "\n" + throttled,
		"UTF-16":                   utf16LE(head + "\r\n" + throttled),
		"no blank line":            head + throttled,
		"HTTP/2":                   "HTTP/2 429 \r\ncontent-type: application/json\r\n\r\n" + throttled,
		"HTTP/3":                   "HTTP/3 429\nserver: x\n\n" + throttled,
		"no version":               "429 Too Many Requests\n\n" + throttled,
		"100 Continue before it":   "HTTP/1.1 100 Continue\r\n\r\n" + head + "\n" + throttled,
		"a proxy's answer before":  "HTTP/1.1 200 Connection established\r\n\r\n" + head + "\n" + throttled,
		"a redirect before":        "HTTP/1.1 307 Temporary Redirect\nLocation: /x\n\n" + head + "\n" + throttled,
		"a long Content-Length":    head + "Content-Length: 9999\n\n" + throttled,
		"a short Content-Length":   head + "Content-Length: 3\n\n" + throttled,
		"a negative length":        head + "Content-Length: -3\n\n" + throttled,
		"chunked":                  head + "Transfer-Encoding: chunked\n\n" + chunks,
		"chunked, LF":              head + "Transfer-Encoding: chunked\n\n" + strings.ReplaceAll(chunks, "\r\n", "\n"),
		"chunked, cut":             head + "Transfer-Encoding: chunked\n\n" + strings.TrimSuffix(chunks, "0\r\n\r\n"),
		"no longer chunked":        head + "Transfer-Encoding: chunked\n\n" + throttled,
		"gzip":                     head + "Content-Encoding: gzip\n\n" + gzipped(throttled),
		"no longer gzip":           head + "Content-Encoding: gzip\n\n" + throttled,
		"br":                       head + "Content-Encoding: br\n\n" + brotlied(throttled),
		"no longer br":             head + "Content-Encoding: br\n\n" + throttled,
		"deflate":                  head + "Content-Encoding: deflate\n\n" + deflated(throttled),
		"a folded header":          "HTTP/1.1 429 Too Many Requests\nX-Long: a\n  b\nContent-Type: application/json\n\n" + throttled,
		"indented, as in an issue": "\n    " + strings.ReplaceAll(head+"\n"+throttled, "\n", "\n    "),
		"curl -v": "*   Trying 10.0.0.1:443...\n> POST /v1/chat/completions HTTP/2\n> authorization: Bearer sk-secret\n>\n< HTTP/2 429 \n" +
			"< content-type: application/json\n< \n{ [99 bytes data]\n* Connection #0 left intact\n" + throttled + "\n",
	}
	for name, raw := range cases {
		t.Run(name, func(t *testing.T) {
			resp, err := explain.ReadResponse(strings.NewReader(raw), received)
			if err != nil {
				t.Fatal(err)
			}
			got := explain.Read(registry.ByName("OpenAI"), resp).Expectation()
			if got.Class != "throttle" || got.Source != "body-hint" || got.WaitSeconds == nil || *got.WaitSeconds != 20 {
				t.Errorf("%+v of status %d, %v, body %q", got, resp.Status, resp.Header, resp.Body)
			}
		})
	}
}

// TestStreamsWithoutABlankLine: the first event is no header.
func TestStreamsWithoutABlankLine(t *testing.T) {
	for _, first := range []string{"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":6}}\n\n"} {
		resp, err := explain.ReadResponse(strings.NewReader("HTTP/2 200\ncontent-type: text/event-stream\n"+first+"data: [DONE]\n\n"), received)
		if err != nil {
			t.Fatal(err)
		}
		if got := explain.Read(registry.ByName("OpenAI"), resp); got.Usage.Input != 5 || got.Usage.Output != 6 || !got.Complete {
			t.Errorf("%+v", got)
		}
	}
}

// TestWhatIsNoResponse: the error says what to do, and repeats no key.
func TestWhatIsNoResponse(t *testing.T) {
	const key = "sk-proj-abcdefghijklmnop1234567890"
	cases := map[string]struct{ raw, want string }{
		"nothing":         {"", "no response on standard input"},
		"space":           {" \n\r\n", "no response on standard input"},
		"a body alone":    {throttled, "no status line"},
		"a request":       {"POST /v1/responses HTTP/1.1\nAuthorization: Bearer " + key + "\n\n", "no status line"},
		"a key":           {key + "\n", "no status line"},
		"a header first":  {"x-api-key: " + key + "\n\n", "no status line"},
		"a wrong status":  {"HTTP/1.1 999 Odd\n\n", "no status line"},
		"only an interim": {"HTTP/1.1 100 Continue\n\n", "interim"},
		"too much":        {"HTTP/1.1 200 OK\n\n" + strings.Repeat("x", explain.MaxInput), "more than"},
		"a damaged body":  {"HTTP/1.1 429 X\nContent-Encoding: gzip\n\n\xff\xfe\x80", "--compressed"},
		"an unknown code": {"HTTP/1.1 429 X\nContent-Encoding: zstd\n\n\xff\xfe\x80", "--compressed"},
		"a bomb":          {"HTTP/1.1 429 X\nContent-Encoding: gzip\n\n" + gzipped(strings.Repeat("x", 2*explain.MaxInput)), "decompressed"},
	}
	for name, tc := range cases {
		_, err := explain.ReadResponse(strings.NewReader(tc.raw), received)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, tc.want)
		}
		if err != nil && strings.Contains(err.Error(), "abcdefgh") {
			t.Errorf("%s: the error repeats a key: %v", name, err)
		}
	}
}

// TestNoSecretsInText: what a person shares of our output holds no cookie and no key, wherever it stood.
func TestNoSecretsInText(t *testing.T) {
	const key = "sk-proj-abcdefghijklmnop1234567890"
	raw := "HTTP/1.1 429 X\nSet-Cookie: __cf=" + key + "\nX-Api-Key: " + key + "\nAuthorization: Bearer " + key + "\nRetry-After: " + key +
		"\nX-Should-Retry: " + key + "\nDate: " + key + "\nRateLimit: \"" + key + "\";r=1, \"b\";r=2\nx-ratelimit-limit-tokens: " + key +
		"\n\n{\"error\":{\"message\":\"Rate limit reached for key " + key + "\",\"type\":\"" + key + "\",\"code\":\"" + key + "\"}}"
	for _, name := range []string{"OpenAI", "Anthropic", "Generic", "Groq"} {
		resp, err := explain.ReadResponse(strings.NewReader(raw), received)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := explain.Text(&out, registry.ByName(name), resp); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "abcdefgh") {
			t.Errorf("%s:\n%s", name, out.String())
		}
	}
}

// FuzzReadResponse: whatever is pasted ends in an answer or an error, with every dialect, and never in a negative
// wait or a panic.
func FuzzReadResponse(f *testing.F) {
	f.Add("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n\r\n"+throttled, "openai")
	f.Add("HTTP/2 200\ncontent-type: text/event-stream\n\ndata: {\"usage\":{\"prompt_tokens\":5}}\n\n", "generic")
	f.Add("< HTTP/2 529\n< \n{", "anthropic")
	f.Add("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n5\nhello\n0\n\n", "groq")
	f.Add("HTTP/1.1 429 X\nContent-Encoding: gzip\n\n"+gzipped(throttled), "openai")
	f.Fuzz(func(t *testing.T, raw, route string) {
		d := registry.ByRoute(route)
		if d == nil {
			d = registry.ByName("Generic")
		}
		resp, err := explain.ReadResponse(strings.NewReader(raw), received)
		if err != nil {
			return
		}
		e := explain.Read(d, resp).Expectation()
		if e.WaitSeconds != nil && *e.WaitSeconds < 0 {
			t.Errorf("a wait of %v", *e.WaitSeconds)
		}
		for _, b := range e.Budgets {
			for _, v := range []*float64{b.Limit, b.Remaining, b.ResetSeconds} {
				if v != nil && *v < 0 {
					t.Errorf("%+v", b)
				}
			}
		}
		var out bytes.Buffer
		if err := explain.Text(&out, d, resp); err != nil || out.Len() == 0 {
			t.Errorf("no text: %v", err)
		}
	})
}
