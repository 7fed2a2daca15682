// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// form writes a form with fields and one file.
func form(tb testing.TB, fields map[string]string, filename, mediaType string, file []byte) (contentType string, body []byte) {
	tb.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for name, value := range fields {
		if err := w.WriteField(name, value); err != nil {
			tb.Fatal(err)
		}
	}
	head := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q; filename=%q", "file", filename)}}
	if mediaType != "" {
		head.Set("Content-Type", mediaType)
	}
	part, err := w.CreatePart(head)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := part.Write(file); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return w.FormDataContentType(), buf.Bytes()
}

// TestC9FormsCostTheirFieldsAndFiles: a recording of 25 MB is no text of 8 million tokens.
func TestC9FormsCostTheirFieldsAndFiles(t *testing.T) {
	recording := bytes.Repeat([]byte("\x00\xff\r\n-"), 5<<20)
	for name, tc := range map[string]struct {
		fields              map[string]string
		filename, mediaType string
		want                dialect.Request
	}{
		"a transcription": {
			map[string]string{"model": "whisper-1", "prompt": "abc", "response_format": "json", "stream": "true"},
			"a.mp3", "application/octet-stream",
			dialect.Request{Model: "whisper-1", Stream: true, TextBytes: 3, MediaTokens: costs.Audio},
		},
		"no type":      {nil, "a.mp3", "", dialect.Request{MediaTokens: costs.Audio}},
		"a picture":    {map[string]string{"model": "gpt-image-1", "prompt": "abcd", "n": "3"}, "a.png", "image/png", dialect.Request{Model: "gpt-image-1", TextBytes: 4, Choices: 3, MediaTokens: costs.Image}},
		"a document":   {map[string]string{"n": "-3"}, "a.pdf", "application/pdf", dialect.Request{MediaTokens: costs.Document}},
		"a long model": {map[string]string{"model": strings.Repeat("m", maxModel+1)}, "a", "video/mp4", dialect.Request{MediaTokens: costs.Video}},
	} {
		t.Run(name, func(t *testing.T) {
			contentType, body := form(t, tc.fields, tc.filename, tc.mediaType, recording)
			if got := ReadAs(dialect.Operation{}, contentType, body, costs); got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestOtherBodies: a body that is a medium costs one; what cannot be read costs its length; a JSON object is read
// whatever type it is said to be.
func TestOtherBodies(t *testing.T) {
	for _, tc := range []struct {
		contentType, body string
		want              dialect.Request
	}{
		{"audio/flac", strings.Repeat("x", 1<<20), dialect.Request{MediaTokens: costs.Audio}},
		{"Image/PNG", "x", dialect.Request{MediaTokens: costs.Image}},
		{"video/mp4; a=b", "x", dialect.Request{MediaTokens: costs.Video}},
		{"audio/flac", `{"model":"m"}`, dialect.Request{Model: "m"}},
		{"image/png", "\xef\xbb\xbf \r\n{\"model\":\"m\"}", dialect.Request{Model: "m"}},
		{"video/mp4", "{\x00}\x00", dialect.Request{}},
		{"audio/mpeg", "\xff\xfe{\x01", dialect.Request{MediaTokens: costs.Audio}},
		{"audio/wav", "RIFF{\x00\x00\x00WAVE", dialect.Request{MediaTokens: costs.Audio}},
		{"text/plain", "abc", dialect.Request{TextBytes: 3, Many: true}},
		{"", "abc", dialect.Request{TextBytes: 3, Many: true}},
		{"text/plain", `{"model":"m"}`, dialect.Request{Model: "m"}},
		{"multipart/form-data", "--x\r\n", dialect.Request{TextBytes: 5, Many: true}},
		{"multipart/mixed; boundary=x", "--x\r\n", dialect.Request{TextBytes: 5, Many: true}},
		{"multipart/form-data; boundary=x", "abc", dialect.Request{TextBytes: 3, Many: true}},
		{"multipart/form-data; boundary=x", "--x\r\n\r\nabc", dialect.Request{TextBytes: 10, Many: true}},
		{"multipart/form-data; boundary=x", "--x--\r\n", dialect.Request{}},
		{"multipart/form-data; boundary=x", "--x\r\nabc\r\n--x--", dialect.Request{TextBytes: 5}},
		{"multipart/form-data; boundary=" + strings.Repeat("x", 71), "abc", dialect.Request{TextBytes: 3, Many: true}},
		{"multipart/form-data; boundary=x", "--x" + strings.Repeat("\r\n--x", maxFields+1) + "--", dialect.Request{TextBytes: 3 + 5*(maxFields+1) + 2, Many: true}},
	} {
		if got := ReadAs(dialect.Operation{}, tc.contentType, []byte(tc.body), costs); got != tc.want {
			t.Errorf("%s, %.40q: %+v, want %+v", tc.contentType, tc.body, got, tc.want)
		}
	}
}

// TestLargeFormsAreQuick: 10 MiB of sound in at most 5 ms, tenfold slack.
func TestLargeFormsAreQuick(t *testing.T) {
	sound := make([]byte, 10<<20)
	for i := range sound {
		sound[i] = byte(i * i >> 5)
	}
	contentType, body := form(t, map[string]string{"model": "m"}, "a.wav", "audio/wav", sound)
	best := time.Hour
	for range 5 {
		began := time.Now()
		ReadAs(dialect.Operation{}, contentType, body, costs)
		best = min(best, time.Since(began))
	}
	if best > 50*time.Millisecond {
		t.Errorf("took %v", best)
	}
}

func BenchmarkForm10MiB(b *testing.B) {
	for name, piece := range map[string]string{"sound": "RIFF\x01\x02\x03\x04", "lines": "\r\n--\x01\x02\x03\x04"} {
		b.Run(name, func(b *testing.B) {
			contentType, body := form(b, map[string]string{"model": "m"}, "a.wav", "audio/wav", bytes.Repeat([]byte(piece), 10<<20/8))
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				ReadAs(dialect.Operation{}, contentType, body, costs)
			}
		})
	}
}

// FuzzForm: no form is too strange.
func FuzzForm(f *testing.F) {
	contentType, body := form(f, map[string]string{"model": "m", "prompt": "abc", "n": "2"}, "a.wav", "audio/wav", []byte("\r\n--"))
	f.Add(contentType, body)
	f.Add("multipart/form-data; boundary=x", []byte("--x\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--x--"))
	f.Add("audio/wav", []byte("RIFF"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		check(t, ReadAs(dialect.Operation{}, contentType, body, costs), body)
	})
}
