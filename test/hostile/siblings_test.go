// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"strings"
)

// siblings are further ways in which two readers may disagree about where a request ends, what it is of or whom it is for.
func siblings() []framing {
	const models = "GET " + basePath + "/v1/models "
	chunkedAs := func(coding, body string) string {
		return request(chatLine, "Transfer-Encoding: "+coding+"\r\nConnection: close\r\n", body)
	}
	sized := func(length, more string) string {
		return request(chatLine, more+"Content-Length:"+length+"\r\nConnection: close\r\n", "{}")
	}
	get := func(headers string) string {
		return request("GET /openai/v1/models HTTP/1.1", headers+"Connection: close\r\n", "")
	}
	return []framing{
		{"a coding under the chunks", chunkedAs("gzip, chunked", "2\r\n{}\r\n0\r\n\r\n"+hidden), []int{0}, nil, 0},
		{"chunks in chunks", chunkedAs("chunked, chunked", "2\r\n{}\r\n0\r\n\r\n"+hidden), []int{0}, nil, 0},
		{"a coding that is empty", chunkedAs("", "2\r\n{}\r\n0\r\n\r\n"+hidden), []int{0}, nil, 0},
		{"chunks with bare line feeds", chunkedAs("chunked", "2\n{}\n0\n\n"), []int{0}, nil, 0},
		{"a quote without end in an extension", chunkedAs("chunked", "2;a=\"\r\n{}\r\n0\r\n\r\n"), []int{200}, []string{chat + "{}"}, 0},
		{"spaces behind a chunk's length", chunkedAs("chunked", "2 \r\n{}\r\n0 \r\n\r\n"), []int{200}, []string{chat + "{}"}, 0},
		{"a chunk's length with zeros", chunkedAs("chunked", "0000000000000002\r\n{}\r\n0\r\n\r\n"), []int{200}, []string{chat + "{}"}, 0},
		{"a chunk's length with more zeros", chunkedAs("chunked", "00000000000000002\r\n{}\r\n0\r\n\r\n"), []int{0}, nil, 0},
		{"a length with spaces around", sized("  2 \t", ""), []int{200}, []string{chat + "{}"}, 0},
		{"a length with zeros", sized(" 0002", ""), []int{200}, []string{chat + "{}"}, 0},
		{"a length that is empty", sized("", ""), []int{0}, nil, 0},
		{"a length with an underscore", sized(" 2", "Content_Length: 50\r\nTransfer_Encoding: chunked\r\n"), []int{200}, []string{chat + "{}"}, 0},
		{"headers of a connection that a signature covers", request(chatLine, signs("connection;content_length;keep-alive;proxy-authorization;proxy-connection;te;trailer;transfer-encoding;transfer_encoding;upgrade")+
			"Connection: close, X-Sum\r\nContent_Length: 50\r\nKeep-Alive: 5\r\nProxy-Authorization: Basic YTpi\r\nProxy-Connection: close\r\nTe: chunked\r\nTransfer_Encoding: chunked\r\nUpgrade: h2c\r\nContent-Length: 2\r\n", "{}"), []int{200}, []string{chat + "{}"}, 0},
		{"an upgrade to HTTP/2 with a body", request(chatLine, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 2\r\n", "{}"), []int{200}, []string{chat + "{}"}, 0},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", []int{0}, nil, 0},
		{"HTTP/1.0 without a host", "GET /openai/v1/models HTTP/1.0\r\n\r\n" + hidden, []int{200}, []string{models}, 0},
		{"HTTP/1.0 in chunks", "POST /openai/v1/chat/completions HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + hidden, []int{200}, []string{chat}, 0},
		{"HTTP/0.9", "GET /openai/v1/models\r\n\r\n", []int{0}, nil, 0},
		{"a version in small letters", "GET /openai/v1/models http/1.1\r\nHost: a\r\n\r\n", []int{0}, nil, 0},
		{"tabs in the first line", "GET\t/openai/v1/models\tHTTP/1.1\r\nHost: a\r\n\r\n", []int{0}, nil, 0},
		{"two spaces in the first line", "GET  /openai/v1/models HTTP/1.1\r\nHost: a\r\n\r\n", []int{0}, nil, 0},
		{"lines before the first", "\r\n\r\n" + get(""), []int{0}, nil, 0},
		{"two hosts of one name", "GET /openai/v1/models HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", []int{0}, nil, 0},
		{"a host with a user", "GET /openai/v1/models HTTP/1.1\r\nHost: a@b\r\n\r\n", []int{0}, nil, 0},
		{"another expectation", request(chatLine, "Expect: anything\r\nContent-Length: 2\r\n", "{}"), []int{417}, nil, 0},
		{"no chunk of a GET", get("Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", []int{200}, []string{models}, 0},
		{"a request behind a HEAD", request("HEAD /openai/v1/models HTTP/1.1", fmt.Sprintf("Connection: close\r\nContent-Length: %d\r\n", len(hidden)), hidden), nil, []string{"HEAD " + basePath + "/v1/models " + hidden}, 0},
		{"a name with a control character", get("X\x7fA: b\r\n"), []int{0}, nil, 0},
		{"10,000 parameters", request("POST /openai/v1/chat/completions?"+strings.Repeat("a=b&", 10_000)+" HTTP/1.1", "Connection: close\r\nContent-Length: 2\r\n", "{}"), []int{200}, []string{"POST " + basePath + "/v1/chat/completions?" + strings.Repeat("a=b&", 10_000) + " {}"}, 0},
	}
}

// signs is a signature that covers headers by its own word; only the provider can tell whether it is one.
func signs(headers string) string {
	return "Authorization: AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=" + headers + ", Signature=0\r\n"
}
