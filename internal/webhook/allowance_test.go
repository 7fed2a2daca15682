// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

// called makes a call of so many bytes, whose sender says so or not, and what a handler that reads it makes of it.
func called(a *allowance, n, says int64, reads func(read int, err error)) *httptest.ResponseRecorder {
	h := a.bound(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		reads(len(text), err)
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, `{"allowed":false}`)
	}))
	r := httptest.NewRequest(http.MethodPost, PodPath, io.LimitReader(xs{}, n))
	r.ContentLength = says
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// xs are as many as are read.
type xs struct{}

func (xs) Read(p []byte) (int, error) { return copy(p, strings.Repeat("x", len(p))), nil }

// TestBodiesAreBounded: what is too large is not read, and what there is no memory for not to its end. A handler's word on half of
// a body is not passed on: it would be a refusal of the object, and not a call that failed.
func TestBodiesAreBounded(t *testing.T) {
	const room = 1 << 20
	for _, tc := range []struct {
		n, says int64
		want    int
	}{
		{smallBody, smallBody, http.StatusOK},
		{smallBody + room, smallBody + room, http.StatusOK},
		{smallBody + room, -1, http.StatusOK},
		{smallBody + room + 1, smallBody + room + 1, http.StatusServiceUnavailable},
		{maxBody, maxBody, http.StatusServiceUnavailable},
		{maxBody, -1, http.StatusServiceUnavailable},
		{maxBody + 1, maxBody + 1, http.StatusRequestEntityTooLarge},
		{0, 0, http.StatusOK},
	} {
		a := newAllowance(room)
		handled := false
		w := called(a, tc.n, tc.says, func(read int, err error) {
			handled = true
			if whole := int64(read) == tc.n && err == nil; whole != (tc.want == http.StatusOK) || read > smallBody+room {
				t.Errorf("of %d bytes %d are read, %v", tc.n, read, err)
			}
			if held := max(tc.n-smallBody, 0); err == nil && a.left != room-held {
				t.Errorf("a body of %d bytes leaves %d", tc.n, a.left)
			}
		})
		if w.Code != tc.want || handled == (tc.want == http.StatusRequestEntityTooLarge) || strings.Contains(w.Body.String(), "allowed") != (tc.want == http.StatusOK) {
			t.Errorf("a body of %d bytes is answered %d %s, want %d; handled %t", tc.n, w.Code, w.Body, tc.want, handled)
		}
		if a.left != room || a.calls != maxConnections || a.reading.Len() != 0 {
			t.Errorf("%d bytes and %d calls are left in the end", a.left, a.calls)
		}
	}
}

// TestTheLibraryReadsNoMore: a body of the size that it takes at most is taken here.
func TestTheLibraryReadsNoMore(t *testing.T) {
	w := called(newAllowance(maxBodies), maxBody, maxBody, func(read int, err error) {
		if read != maxBody || err != nil {
			t.Errorf("%d bytes are read, %v", read, err)
		}
	})
	if w.Code != http.StatusOK {
		t.Errorf("it is answered %d", w.Code)
	}
}

// TestAllowanceIsKept: never more than there is, a small body of each call however much is held, all of it comes back, and who is
// refused asked for more than the whole bodies leave, or was at it for longest of those that were not whole.
func TestAllowanceIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 1000
		a := newAllowance(total)
		a.calls = 5
		var all, reading []*body // the latter in the order in which they began to hold something
		without := func(list []*body, b *body) (out []*body) {
			for _, each := range list {
				if each != b {
					out = append(out, each)
				}
			}
			return out
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(all) == 0 || rapid.IntRange(0, 3).Draw(t, "begin") == 0 {
				b := a.begin(func() {})
				if (b.free == smallBody) != (len(all) < 5) {
					t.Fatalf("call %d has %d for nothing", len(all), b.free)
				}
				if b.free > 0 && !a.hold(b, smallBody, false) {
					t.Fatal("a small body is refused")
				}
				all = append(all, b)
				continue
			}
			b := rapid.SampledFrom(all).Draw(t, "which")
			if rapid.IntRange(0, 3).Draw(t, "end") == 0 {
				a.end(b)
				all, reading = without(all, b), without(reading, b)
				continue
			}
			stalled, was := b.refused || b.at == nil && b.held > 0, b.held
			if stalled {
				continue
			}
			n, whole := rapid.Int64Range(0, 600).Draw(t, "n"), rapid.Bool().Draw(t, "whole")
			if n > 0 && was == 0 {
				reading = append(reading, b)
			}
			ok := a.hold(b, n, whole)
			for _, other := range without(reading, b) { // the first of them go
				if !other.refused {
					break
				}
				reading = without(reading, other)
			}
			if !ok || whole {
				reading = without(reading, b)
			}
			var sum, wholes int64
			for _, each := range all {
				sum += each.held
				if each.at == nil && each != b {
					wholes += each.held
				}
				if each.refused && each.held != 0 {
					t.Fatal("what is refused holds something")
				}
			}
			if ok != (wholes+was+n <= total) {
				t.Fatalf("%d more beside %d, and %d of bodies that are whole: %t", n, was, wholes, ok)
			}
			if sum > total || a.left != total-sum || a.reading.Len() != len(reading) {
				t.Fatalf("%d are held, %d are left; %d are read, want %d", sum, a.left, a.reading.Len(), len(reading))
			}
		}
		for _, each := range all {
			a.end(each)
		}
		if a.left != total || a.calls != 5 || a.reading.Len() != 0 {
			t.Fatalf("%d of %d came back, and %d of 5 calls", a.left, total, a.calls)
		}
	})
}
