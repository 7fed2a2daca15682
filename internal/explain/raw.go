// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect/failure"
)

const (
	// MaxInput bounds what is read of a response or of a policy, before decompression and after.
	MaxInput = 1 << 20
	// maxHeads bounds the interim responses before the last.
	maxHeads = 16
	// maxShown bounds what an error repeats of the input.
	maxShown = 60
)

// ReadResponse reads a response as a person pastes it: the output of curl -i or curl -v, of a proxy's log, or of a
// program. It needs a status line; everything else may be missing or imperfect. received is our clock's time.
func ReadResponse(in io.Reader, received time.Time) (Response, error) {
	raw, err := readAll(in)
	if err != nil {
		return Response{}, err
	}
	text := verbose(unindented(asUTF8(raw)))
	resp := Response{Received: received}
	for range maxHeads {
		head, err := readHead(text)
		if err != nil {
			return Response{}, err
		}
		resp.Status, resp.Header, text = head.status, head.header, head.rest
		if !startsAnother(text) {
			break
		}
	}
	if resp.Status < 200 {
		return Response{}, fmt.Errorf("the response ends at its interim status %d: paste what follows it too", resp.Status)
	}
	resp.Body, err = body(resp.Header, text)
	return resp, err
}

func readAll(in io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(in, MaxInput+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > MaxInput:
		return nil, fmt.Errorf("the response has more than %d bytes: paste its head and the first part of its body", MaxInput)
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, errors.New("there is no response on standard input: pipe one in, as in curl -si URL | kubectl headgate explain …")
	}
	return raw, nil
}

// head is what stands before the body.
type head struct {
	status int
	header http.Header
	rest   []byte
}

func readHead(text []byte) (head, error) {
	text = bytes.TrimLeft(text, "\r\n \t")
	line, rest := cutLine(text)
	status, ok := statusLine(line)
	if !ok {
		return head{}, fmt.Errorf("the first line, %q, is no status line such as HTTP/1.1 429 Too Many Requests: paste the whole "+
			"response with its headers, as curl -i prints it", shown(line))
	}
	h := head{status: status, header: http.Header{}}
	h.rest = readFields(h.header, rest)
	return h, nil
}

// readFields reads header lines up to a blank line, or to the first line that can only be a body's.
func readFields(h http.Header, text []byte) (rest []byte) {
	last := ""
	for len(text) > 0 {
		line, after := cutLine(text)
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line == "":
			return after
		case last != "" && (line[0] == ' ' || line[0] == '\t'):
			// A line that goes on, which older servers still send.
			lines := h[last]
			lines[len(lines)-1] += " " + strings.TrimSpace(line)
		case !ok || !isFieldName(name) || name == "data" || name == "event" || name == "id":
			return text
		default:
			last = http.CanonicalHeaderKey(name)
			h.Add(last, strings.TrimSpace(value))
		}
		text = after
	}
	return nil
}

// startsAnother: what follows a head is another head, as after 100 Continue, a proxy's answer or a redirect.
func startsAnother(text []byte) bool {
	text = bytes.TrimLeft(text, "\r\n")
	if !bytes.HasPrefix(text, []byte("HTTP/")) {
		return false
	}
	line, _ := cutLine(text)
	_, ok := statusLine(line)
	return ok
}

// statusLine reads "HTTP/1.1 429 Too Many Requests", "HTTP/2 429" and "429 Too Many Requests".
func statusLine(line string) (status int, ok bool) {
	fields := strings.Fields(line)
	if len(fields) > 0 && strings.HasPrefix(fields[0], "HTTP/") {
		fields = fields[1:]
	}
	if len(fields) == 0 || len(fields[0]) != 3 {
		return 0, false
	}
	status, err := strconv.Atoi(fields[0])
	return status, err == nil && status >= 100 && status <= 599
}

// cutLine takes the first line, whose end may be LF or CRLF.
func cutLine(text []byte) (line string, rest []byte) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimSuffix(first, []byte("\r"))), rest
}

func isFieldName(name string) bool {
	if name == "" || len(name) > 256 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return true
}

// shown makes a piece of input fit for an error: short, printable, without anything that looks like a key.
func shown(line string) string {
	line = failure.Message(line[:min(len(line), 4*maxShown)])
	if runes := []rune(line); len(runes) > maxShown {
		return string(runes[:maxShown]) + "…"
	}
	return line
}
