// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// hollow are documents that are whole and empty, one behind the other.
func hollow(t *testing.T, name string, size int) []byte {
	t.Helper()
	one := map[string][]byte{
		"zstd": {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0}, // a frame of one block, which is empty
		"skip": {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0},       // a frame that is skipped
	}[name]
	if one == nil {
		one = code(t, name, nil)
	}
	return bytes.Repeat(one, size/len(one))
}

// tables are blocks of deflate that state the codes of all lengths, and then nothing.
func tables(t *testing.T, size int) []byte {
	t.Helper()
	var bits bytes.Buffer
	var held, n uint
	put := func(v, width uint) {
		held |= v << n
		for n += width; n >= 8; n -= 8 {
			bits.WriteByte(byte(held))
			held >>= 8
		}
	}
	for bits.Len() < size {
		put(0|2<<1, 3) // not the last, with its own codes
		put(0, 5)      // 257 lengths of literals
		put(0, 5)      // and one of distances
		put(14, 4)     // 18 lengths of lengths, in the standard's odd order
		// Of 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14 and 1: 18 is "0", 0 is "10", and 1 is "11".
		for _, length := range [18]uint{2: 1, 3: 2, 17: 2} {
			put(length, 3)
		}
		put(0, 1)
		put(127, 7) // 138 of length 0
		put(0, 1)
		put(107, 7) // 118 more
		put(3, 2)   // the end of the block has length 1
		put(3, 2)   // and so has the one distance
		put(0, 1)   // which ends it
	}
	return bits.Bytes()
}

// TestWhatYieldsNothingIsGivenUp: of documents that are whole and empty any number stand for nothing, and a small body of another
// coding for any number. They are given up after little work, however long they go on.
func TestWhatYieldsNothingIsGivenUp(t *testing.T) {
	const size = 3 * maxIdle
	empty := hollow(t, "gzip", size)
	for name, tc := range map[string]struct {
		header string
		body   []byte
	}{
		"members of gzip":          {"gzip", empty},
		"members of gzip, in zstd": {"gzip, zstd", code(t, "zstd", empty)},
		"members of gzip, in gzip": {"gzip, gzip", code(t, "gzip", empty)},
		"frames of zstd":           {"zstd", hollow(t, "zstd", size)},
		"frames of zstd, in gzip":  {"zstd, gzip", code(t, "gzip", hollow(t, "zstd", size))},
		"frames that are skipped":  {"zstd", hollow(t, "skip", size)},
		"blocks of deflate":        {"deflate", tables(t, size)},
		"before a document":        {"gzip, br", code(t, "br", append(bytes.Clone(empty), code(t, "gzip", []byte("some words"))...))},
	} {
		e := &effort{alive: func() error { return nil }, most: MaxCoded, above: ErrLarge}
		r, err := open(named(tc.header), tc.body, e)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			r.close()
		}
		if !errors.Is(err, ErrBomb) || e.taken > 2*maxIdle {
			t.Errorf("%s: it is given up after %d bytes: %v", name, e.taken, err)
		}
		if !strings.Contains(tc.header, "zstd") {
			continue // those do for what is read by way of a place
		}
		if text, err := undo(tc.header, tc.body); text != "" || !errors.Is(err, ErrBomb) {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
		if text, err := Start(named(tc.header), tc.body, 64<<10); len(text) > 0 || err == nil {
			t.Errorf("%s: its beginning has %d bytes, %v", name, len(text), err)
		}
	}
}

// noise is text that no coding makes smaller.
func noise(size int) []byte {
	r := rand.NewChaCha8([32]byte{1})
	text := make([]byte, size)
	_, _ = r.Read(text)
	return text
}

// TestWhatIsTakenInIsBounded in sum over the codings of a body; what is within the bound is read whole, however little it yields.
func TestWhatIsTakenInIsBounded(t *testing.T) {
	small, large := noise(MaxCoded-8<<10), noise(MaxCoded+64<<10)
	for name, header := range map[string]string{"stored": "gzip", "zstd": "zstd"} {
		if text, err := undo(header, code(t, name, small)); err != nil || text != string(small) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(text), len(small), err)
		}
		if text, err := undo(header, code(t, name, large)); !errors.Is(err, ErrLarge) || len(text) < MaxCoded-256<<10 || !strings.HasPrefix(string(large), text) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(text), len(large), err)
		}
	}
	if text, err := undo("gzip, gzip", code(t, "stored", code(t, "stored", small))); !errors.Is(err, ErrBomb) || len(text) > MaxCoded/2+256<<10 {
		t.Errorf("in two: %d bytes of %d, %v", len(text), len(small), err)
	}
	half := small[:MaxCoded/2-8<<10]
	if text, err := undo("gzip, gzip", code(t, "stored", code(t, "stored", half))); err != nil || text != string(half) {
		t.Errorf("in two: %d bytes of %d, %v", len(text), len(half), err)
	}
}

// TestManyFlushesAreNoBomb: a stream of short pieces that were sent one by one is read whole, though little is gained by its coding.
func TestManyFlushesAreNoBomb(t *testing.T) {
	want := noise(5 * maxIdle / 8)
	for _, name := range []string{"stored", "zstd"} {
		var out bytes.Buffer
		z := writers[name](&out)
		for piece := range slices.Chunk(want, 8) {
			if _, err := z.Write(piece); err != nil {
				t.Fatal(err)
			}
			if err := z.(interface{ Flush() error }).Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		header := strings.Replace(name, "stored", "gzip", 1)
		if got, err := undo(header, out.Bytes()); got != string(want) || err != nil || out.Len() <= maxIdle*17/20 {
			t.Errorf("%s: %d bytes of %d from %d, %v", name, len(got), len(want), out.Len(), err)
		}
	}
}

// TestNobodyWaitsForAQuickBodyBehindALongOne: while one that is long is read, others are that are quick; another long one waits, for
// as long as somebody waits for it, and reading ends when nobody does.
func TestNobodyWaitsForAQuickBodyBehindALongOne(t *testing.T) {
	quickly, slowly := code(t, "zstd", []byte("some words")), code(t, "zstd", make([]byte, 16<<20))
	ctx, leave := context.WithCancel(t.Context())
	err := Read(ctx, []string{"zstd"}, slowly, true, func(r io.Reader) {
		if text, err := undo("zstd", quickly); text != "some words" || err != nil {
			t.Errorf("beside it: %q, %v", text, err)
		}
		if text, err := Start([]string{"zstd"}, slowly, 10); len(text) != 10 || err != nil {
			t.Errorf("its beginning, beside it: %d bytes, %v", len(text), err)
		}
		if text, err := undo("zstd, gzip", code(t, "gzip", quickly)); text != "some words" || err != nil {
			t.Errorf("nested, beside it: %q, %v", text, err)
		}
		gone, give := context.WithCancel(t.Context())
		give()
		for _, body := range [][]byte{slowly, noise(quickCoded + 1)} {
			if err := Read(gone, []string{"zstd"}, body, true, func(io.Reader) { t.Error("two long bodies are read at once") }); !errors.Is(err, context.Canceled) {
				t.Errorf("another long one: %v", err)
			}
		}
		if n, err := io.CopyN(io.Discard, r, 1<<20); n != 1<<20 || err != nil {
			t.Errorf("it: %d bytes, %v", n, err)
		}
		leave()
		if n, err := io.Copy(io.Discard, r); n > step || !errors.Is(err, context.Canceled) {
			t.Errorf("when its client had left: %d bytes, %v", n, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPlacesAreGivenBack: whatever a body is, and whoever reads it, it holds up nobody for good.
func TestPlacesAreGivenBack(t *testing.T) {
	bodies := [][]byte{nil, []byte("neither"), code(t, "zstd", make([]byte, 4<<20)), noise(quickCoded + 1), hollow(t, "gzip", 1<<20), {0x1b}, []byte("\x1f\x8b")}
	for _, name := range []string{"zstd", "br", "gzip", "deflate"} {
		bodies = append(bodies, code(t, name, []byte("x")))
	}
	for _, body := range bodies {
		for _, header := range []string{"zstd", "br", "gzip", "deflate", "br, gzip", "gzip, br", "br, zstd", "compress"} {
			for _, keeps := range []bool{false, true} {
				_ = Read(t.Context(), named(header), body, keeps, func(io.Reader) {})
				func() {
					defer func() { _ = recover() }()
					_ = Read(t.Context(), named(header), body, keeps, func(io.Reader) { panic("a reader") })
				}()
			}
			_, _ = Start(named(header), body, 10)
		}
	}
	if len(long) != 0 || len(quick) != 0 {
		t.Fatalf("%d long and %d quick bodies are read for good", len(long), len(quick))
	}
}
