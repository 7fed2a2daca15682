// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// upstream is the provider in this process: raw HTTP/1.1, so that it costs little beside the proxy.
type upstream struct {
	l      net.Listener
	answer []byte
}

func startUpstream() (*upstream, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	u := &upstream{l: l, answer: jsonAnswer()}
	go u.accept()
	return u, nil
}

func (u *upstream) address() string { return u.l.Addr().String() }

func (u *upstream) stop() { _ = u.l.Close() }

// jsonAnswer is a chat completion of about 1 KB with the headers a provider sends.
func jsonAnswer() []byte {
	body := `{"id":"chatcmpl-bench","object":"chat.completion","created":1700000000,"model":"gpt-4.1","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"` + strings.Repeat("word ", 120) + `","refusal":null},"logprobs":null,` +
		`"finish_reason":"stop"}],"usage":{"prompt_tokens":200,"completion_tokens":120,"total_tokens":320,` +
		`"prompt_tokens_details":{"cached_tokens":0}}}`
	return []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-request-id: req_bench\r\n" +
		"x-ratelimit-limit-requests: 100000000\r\nx-ratelimit-remaining-requests: 99999999\r\nx-ratelimit-reset-requests: 1ms\r\n" +
		"x-ratelimit-limit-tokens: 100000000000\r\nx-ratelimit-remaining-tokens: 99999999999\r\nx-ratelimit-reset-tokens: 1ms\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

func (u *upstream) accept() {
	for {
		conn, err := u.l.Accept()
		if err != nil {
			return
		}
		go u.serve(conn)
	}
}

func (u *upstream) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReaderSize(conn, 16<<10)
	for {
		h, err := readHead(r)
		if err != nil || discardBody(r, h) != nil {
			return
		}
		if h.every == 0 {
			if _, err := conn.Write(u.answer); err != nil {
				return
			}
			continue
		}
		if stream(conn, h) != nil {
			return
		}
	}
}

// head is what is read of a message's head.
type head struct {
	status  int
	length  int64
	chunked bool
	// every, chunks and phase ask for a stream, by the header X-Bench-Stream: MICROSECONDS CHUNKS MICROSECONDS.
	every, phase time.Duration
	chunks       int
}

func readHead(r *bufio.Reader) (head, error) {
	var h head
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return h, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return h, nil
		}
		if first {
			if bytes.HasPrefix(line, []byte("HTTP/")) && len(line) >= 12 {
				h.status, _ = strconv.Atoi(string(line[9:12]))
			}
			continue
		}
		h.field(line)
	}
}

// field reads the three fields that matter.
func (h *head) field(line []byte) {
	colon := bytes.IndexByte(line, ':')
	if colon < 0 {
		return
	}
	value := bytes.TrimSpace(line[colon+1:])
	switch name := line[:colon]; {
	case bytes.EqualFold(name, []byte("content-length")):
		h.length, _ = strconv.ParseInt(string(value), 10, 64)
	case bytes.EqualFold(name, []byte("transfer-encoding")):
		h.chunked = bytes.EqualFold(value, []byte("chunked"))
	case bytes.EqualFold(name, []byte("x-bench-stream")):
		var every, phase int64
		if _, err := fmt.Sscan(string(value), &every, &h.chunks, &phase); err == nil {
			h.every, h.phase = time.Duration(every)*time.Microsecond, time.Duration(phase)*time.Microsecond
		}
	}
}

func discardBody(r *bufio.Reader, h head) error {
	if !h.chunked {
		_, err := io.CopyN(io.Discard, r, h.length)
		return err
	}
	for {
		n, err := chunkSize(r)
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, r, n+2); err != nil || n == 0 {
			return err
		}
	}
}

// chunkSize reads the line before a chunk.
func chunkSize(r *bufio.Reader) (int64, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 64)
}

// epoch is what times in chunks are relative to; client and provider share this process's clock.
var epoch = time.Now()

// stamp names the field of a chunk that holds the time it was sent.
const stamp = `"stamp":`

// stream sends chunks of a chat completion, each with the time it left. They leave at the stream's own phase of each interval
// whenever its call came: calls that a proxy let go together would else have their chunks together for good.
func stream(conn net.Conn, h head) error {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
	next := epoch.Add(time.Since(epoch).Truncate(h.every) + h.phase)
	for i := 0; i < h.chunks && err == nil; i++ {
		next = next.Add(h.every)
		time.Sleep(time.Until(next))
		err = writeChunk(conn, fmt.Sprintf(`data: {%s%d,"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,`+
			`"model":"gpt-4.1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`,
			stamp, time.Since(epoch)))
	}
	last := `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4.1","choices":[],` +
		`"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}`
	err = errors.Join(err, writeChunk(conn, last), writeChunk(conn, "data: [DONE]"))
	if err == nil {
		_, err = io.WriteString(conn, "0\r\n\r\n")
	}
	return err
}

func writeChunk(conn net.Conn, data string) error {
	_, err := fmt.Fprintf(conn, "%x\r\n%s\n\n\r\n", len(data)+2, data)
	return err
}
