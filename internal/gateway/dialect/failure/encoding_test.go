// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package failure

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	names "github.com/headgate-dev/headgate/internal/gateway/coding"
)

const document = `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`

// compressors are the codings, and the ways in which servers write them.
var compressors = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, brotli.BestSpeed) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		return z
	},
	"x-gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"raw": func(w io.Writer) io.WriteCloser {
		z, _ := flate.NewWriter(w, flate.DefaultCompression)
		return z
	},
}

func compressed(tb testing.TB, coding string, text []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	z := compressors[coding](&out)
	if _, err := z.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func coded(codings ...string) http.Header { return http.Header{"Content-Encoding": codings} }

// TestA9CompressedBodies: in each coding, in several, undone before, cut off, and not at all.
func TestA9CompressedBodies(t *testing.T) {
	plain := []byte(document)
	twice := compressed(t, "br", compressed(t, "gzip", plain))
	long := compressed(t, "br", []byte(document+strings.Repeat(" ", 3*maxBody)))
	cases := map[string]struct {
		header http.Header
		body   []byte
		want   string
	}{
		"gzip":                    {coded("gzip"), compressed(t, "gzip", plain), "slow down"},
		"gzip, upper case":        {coded("GZIP"), compressed(t, "gzip", plain), "slow down"},
		"gzip, old name":          {coded("x-gzip"), compressed(t, "gzip", plain), "slow down"},
		"gzip that nobody states": {nil, compressed(t, "gzip", plain), "slow down"},
		"br":                      {coded("br"), compressed(t, "br", plain), "slow down"},
		"deflate":                 {coded("deflate"), compressed(t, "deflate", plain), "slow down"},
		"deflate without zlib":    {coded("deflate"), compressed(t, "raw", plain), "slow down"},
		"one after the other":     {coded("gzip, br"), twice, "slow down"},
		"in two lines":            {coded("gzip", "br"), twice, "slow down"},
		"identity":                {coded("identity"), plain, "slow down"},
		"gzip, undone before":     {coded("gzip"), plain, "slow down"},
		"br, undone before":       {coded("br"), plain, "slow down"},
		"deflate, undone before":  {coded("deflate"), plain, "slow down"},
		"br, longer than is read": {coded("br"), long, "slow down"},
		"zstd":                    {coded("zstd"), compressed(t, "zstd", plain), "slow down"},
		"zstd, undone before":     {coded("zstd"), plain, "slow down"},
		"an unknown coding":       {coded("compress"), compressed(t, "br", plain), ""},
		"broken":                  {coded("br"), []byte{0xff, 0xfe, 0xfd}, ""},
		"more codings than any":   {coded(strings.Repeat("gzip, ", 50)), compressed(t, "gzip", plain), "slow down"},
		"empty":                   {coded("br"), nil, ""},
	}
	for name, tc := range cases {
		if got := Read(tc.header, tc.body).Message; got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestCutOffBodies: what came before the end still tells.
func TestCutOffBodies(t *testing.T) {
	text := append([]byte(document), bytes.Repeat([]byte{' ', '\n', '\t', '\r'}, 5000)...)
	for _, coding := range []string{"gzip", "deflate"} {
		body := compressed(t, coding, text)
		if got := Read(coded(coding), body[:len(body)-6]).Message; got != "slow down" {
			t.Errorf("%s: %q", coding, got)
		}
	}
}

// TestBombsStaySmall: little that stands for much is read as little, in each coding and in several. Brotli takes twice
// its window, which is four megabytes at most, and zstd once one of eight.
func TestBombsStaySmall(t *testing.T) {
	const size = 16 << 20
	zeros := make([]byte, size)
	bodies := map[string][]byte{}
	for _, coding := range []string{"gzip", "br", "deflate", "zstd"} {
		bodies[coding] = compressed(t, coding, zeros)
	}
	if d := Read(coded("br"), widest(t)); d.Text != nil {
		t.Errorf("a window of 16 MiB: %q", d.Text)
	}
	bodies["gzip, gzip"] = compressed(t, "gzip", bodies["gzip"])
	for coding, body := range bodies {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d := Read(coded(coding), body)
		runtime.ReadMemStats(&after)
		if len(d.Text) > maxBody {
			t.Errorf("%s: %d bytes of text", coding, len(d.Text))
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 10<<20 {
			t.Errorf("%s: %d bytes of memory for a body of %d", coding, used, len(body))
		}
	}
}

// widest is a document compressed with the largest window.
func widest(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: 1, LGWin: 24})
	if _, err := z.Write([]byte(document)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzDecompress: whatever a body claims to be, it is read within bounds, and what nobody compressed stays.
func FuzzDecompress(f *testing.F) {
	for coding := range compressors {
		if coding != "raw" {
			f.Add(coding, compressed(f, coding, []byte(document)))
		}
	}
	f.Add("gzip, br", []byte("\x1f\x8b\x08\x00"))
	f.Add("identity", []byte("\x5b\xff"))
	f.Add("br", []byte(document))
	f.Fuzz(func(t *testing.T, coding string, body []byte) {
		text := plain(coded(coding), body)
		if len(text) > maxBody {
			t.Errorf("%d bytes", len(text))
		}
		if len(names.Names(coded(coding))) == 0 && !bytes.HasPrefix(body, gzipMagic) && !bytes.Equal(text, body[:min(len(body), maxBody)]) {
			t.Errorf("%q became %q", body, text)
		}
	})
}
