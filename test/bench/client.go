// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// connection is a raw HTTP/1.1 client.
type connection struct {
	conn net.Conn
	r    *bufio.Reader
}

func dial(address string) (*connection, error) {
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &connection{conn, bufio.NewReaderSize(conn, 16<<10)}, nil
}

func (c *connection) close() { _ = c.conn.Close() }

// request is a whole call as it goes over the wire.
func request(p *process, body string, extra ...string) []byte {
	return []byte("POST " + p.path + "/v1/chat/completions HTTP/1.1\r\nHost: " + p.address + "\r\nAuthorization: Bearer " + benchKey +
		"\r\nContent-Type: application/json\r\nUser-Agent: bench\r\nAccept: application/json\r\n" + strings.Join(extra, "") +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// textBody is a chat request of about so many bytes of text.
func textBody(size int) string {
	const sentence = "The customer asks when the parcel will arrive. "
	text := strings.Repeat(sentence, size/len(sentence)+1)[:max(1, size-120)]
	return `{"model":"gpt-4.1","max_tokens":120,"messages":[{"role":"user","content":"` + text + `"}]}`
}

// imageBody is a chat request that carries so many bytes of base64.
func imageBody(size int) string {
	return `{"model":"gpt-4.1","max_tokens":120,"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},` +
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("iVBORw0K", size/8) + `"}}]}]}`
}

// call sends a request and reads the whole answer.
func (c *connection) call(raw []byte) error {
	if _, err := c.conn.Write(raw); err != nil {
		return err
	}
	h, err := readHead(c.r)
	if err != nil {
		return err
	}
	if h.status != 200 {
		body, _ := io.ReadAll(io.LimitReader(c.r, min(h.length, 300)))
		return fmt.Errorf("status %d: %s", h.status, body)
	}
	return discardBody(c.r, h)
}

// stream sends a request for a stream and hands each chunk's delay to seen.
func (c *connection) stream(raw []byte, seen func(time.Duration)) error {
	if _, err := c.conn.Write(raw); err != nil {
		return err
	}
	h, err := readHead(c.r)
	if err != nil {
		return err
	}
	if h.status != 200 || !h.chunked {
		body, _ := io.ReadAll(io.LimitReader(c.r, min(h.length, 300)))
		return fmt.Errorf("status %d, chunked %v: %s", h.status, h.chunked, body)
	}
	var buf []byte
	for {
		n, err := chunkSize(c.r)
		if err != nil {
			return err
		}
		buf = append(buf[:0], make([]byte, n+2)...)
		if _, err := io.ReadFull(c.r, buf); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		eachStamp(buf, seen)
	}
}

// eachStamp finds the times in a piece of a stream.
func eachStamp(buf []byte, seen func(time.Duration)) {
	now := time.Since(epoch)
	for {
		i := bytes.Index(buf, []byte(stamp))
		if i < 0 {
			return
		}
		buf = buf[i+len(stamp):]
		end := bytes.IndexByte(buf, ',')
		if end < 0 {
			return
		}
		if sent, err := strconv.ParseInt(string(buf[:end]), 10, 64); err == nil {
			seen(now - time.Duration(sent))
		}
	}
}
