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

// body is a request of an address that says how long its body is.
func body(from string, n int64) *http.Request {
	r := httptest.NewRequest(http.MethodPost, PodPath, strings.NewReader("{}"))
	r.RemoteAddr, r.ContentLength = from+":4711", n
	return r
}

// TestStrangersBodiesLeaveRoomForTheAPIServer: whoever holds all the bodies that he gets, largest first and from several
// addresses, the calls of the API server are taken.
func TestStrangersBodiesLeaveRoomForTheAPIServer(t *testing.T) {
	a := newAllowance(maxBodies)
	for _, stranger := range []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"} {
		for n := int64(maxBody); n >= 64<<10; n /= 2 {
			for a.take(stranger, n) {
			}
		}
	}
	h := a.bound(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for from, want := range map[string]int{"10.0.0.1": http.StatusServiceUnavailable, "192.168.0.1": http.StatusOK} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, body(from, 256<<10)); w.Code != want {
			t.Errorf("%s is answered %d with %d bytes left, want %d", from, w.Code, a.left, want)
		}
	}
	for n, want := range map[int64]int{maxBody + 1: http.StatusRequestEntityTooLarge, maxBody: http.StatusOK, -1: http.StatusOK} {
		w := httptest.NewRecorder()
		a := newAllowance(2 * maxBody)
		h := a.bound(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if a.left != maxBody {
				t.Errorf("a body of %d bytes leaves %d", n, a.left)
			}
		}))
		if h.ServeHTTP(w, body("10.0.0.1", n)); w.Code != want || a.left != 2*maxBody {
			t.Errorf("a body of %d bytes is answered %d, want %d; %d bytes are left in the end", n, w.Code, want, a.left)
		}
	}
}

// TestAllowanceIsKept: never more than there is, to one never more than is left to others, and all of it comes back.
func TestAllowanceIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const total = 1000
		a := newAllowance(total)
		type taken struct {
			from string
			n    int64
		}
		var all []taken
		var sum int64
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(all) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				a.give(all[i].from, all[i].n)
				sum -= all[i].n
				all = append(all[:i], all[i+1:]...)
				continue
			}
			next := taken{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "from"), rapid.Int64Range(0, 600).Draw(t, "n")}
			if !a.take(next.from, next.n) {
				continue
			}
			all, sum = append(all, next), sum+next.n
			if a.left != total-sum || a.held[next.from] > a.left {
				t.Fatalf("%s holds %d and leaves %d of %d", next.from, a.held[next.from], a.left, total-sum)
			}
		}
		for _, each := range all {
			a.give(each.from, each.n)
		}
		if a.left != total || len(a.held) != 0 {
			t.Fatalf("%d of %d came back, %v is held", a.left, total, a.held)
		}
	})
}

// TestABodyIsReadOnceItIsTaken: what is refused is not read at all.
func TestABodyIsReadOnceItIsTaken(t *testing.T) {
	a := newAllowance(10)
	read := false
	h := a.bound(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		read = true
	}))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, body("10.0.0.1", 6)); read || w.Code != http.StatusServiceUnavailable {
		t.Errorf("6 of 10: read %v, %d", read, w.Code)
	}
	w = httptest.NewRecorder()
	if h.ServeHTTP(w, body("10.0.0.1", 5)); !read || w.Code != http.StatusOK {
		t.Errorf("5 of 10: read %v, %d", read, w.Code)
	}
}
