// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

var writers = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"bare": func(w io.Writer) io.WriteCloser {
		z, _ := flate.NewWriter(w, flate.DefaultCompression)
		return z
	},
	"stored": func(w io.Writer) io.WriteCloser {
		z, _ := gzip.NewWriterLevel(w, gzip.NoCompression)
		return z
	},
	"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestSpeed) },
	"wide": func(w io.Writer) io.WriteCloser { return brotli.NewWriterOptions(w, brotli.WriterOptions{LGWin: 24}) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		return z
	},
}

func code(t *testing.T, name string, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := writers[name](&out)
	// Two writes: who knows the size beforehand may state a window that is smaller.
	if _, err := z.Write(body[:len(body)/2]); err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(body[len(body)/2:]); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func named(header string) []string { return Names(http.Header{"Content-Encoding": {header}}) }

func undo(header string, body []byte) (text string, err error) {
	unused := Read(context.Background(), named(header), body, true, func(r io.Reader) {
		var all []byte
		all, err = io.ReadAll(r)
		text = string(all)
	})
	return text, cmp.Or(unused, err)
}

// TestCodingsAreUndone in each order and spelling; what is not read, or takes too much, is refused before it is read.
func TestCodingsAreUndone(t *testing.T) {
	text := []byte(strings.Repeat("some words ", 2000))
	for name, tc := range map[string]struct {
		header string
		codes  []string
		ok     bool
	}{
		"none":               {"identity", nil, true},
		"gzip":               {"GZIP ", []string{"gzip"}, true},
		"an old name":        {"x-gzip", []string{"gzip"}, true},
		"deflate":            {"deflate", []string{"deflate"}, true},
		"deflate, bare":      {"deflate", []string{"bare"}, true},
		"br":                 {"br", []string{"br"}, true},
		"zstd":               {"zstd", []string{"zstd"}, true},
		"two":                {"gzip, br", []string{"gzip", "br"}, true},
		"the other way":      {"zstd,deflate", []string{"zstd", "deflate"}, true},
		"twice the same":     {"x-gzip,gzip", []string{"gzip", "gzip"}, true},
		"three":              {"gzip, deflate, gzip", []string{"gzip", "deflate", "gzip"}, false},
		"two windows":        {"br, zstd", []string{"br", "zstd"}, false},
		"the same window":    {"zstd, zstd", []string{"zstd", "zstd"}, false},
		"unknown":            {"compress", []string{"gzip"}, false},
		"a window of 16 MiB": {"br", []string{"wide"}, false},
		"another order":      {"br, gzip", []string{"gzip", "br"}, false},
	} {
		body := slices.Clone(text)
		for _, c := range tc.codes {
			body = code(t, c, body)
		}
		got, err := undo(tc.header, body)
		if ok := err == nil && got == string(text); ok != tc.ok {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if tc.ok && len(tc.codes) > 0 {
			if got, err = undo(tc.header, body[:len(body)-3]); err == nil && got == string(text) {
				t.Errorf("%s: a body that is cut is read as a whole one", name)
			}
		}
	}
}

// TestBombsTakeLittle: what is read of them is the reader's choice, and their windows are bounded.
func TestBombsTakeLittle(t *testing.T) {
	for name := range writers {
		if name == "wide" || name == "stored" {
			continue
		}
		bomb := code(t, name, make([]byte, 1<<20))
		header := strings.Replace(name, "bare", "deflate", 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, err := Start(named(header), bomb, 1<<19)
		n := len(text)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; n != 1<<19 || err != nil || used > 12<<20 {
			t.Errorf("%s: %d bytes of %d took %d of memory: %v", name, n, len(bomb), used, err)
		}
	}
}

// TestWindowsOfZstdAreBounded: a frame of one byte may ask for any window.
func TestWindowsOfZstdAreBounded(t *testing.T) {
	for exponent, ok := range map[byte]bool{0: true, 13: true, 14: false, 31: false} {
		frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, exponent << 3, 9, 0, 0, 'x'} // a window of 1 KiB << exponent, and one raw block
		if got, err := undo("zstd", frame); (err == nil && got == "x") != ok {
			t.Errorf("a window of 1 KiB << %d: %q, %v", exponent, got, err)
		}
	}
}
