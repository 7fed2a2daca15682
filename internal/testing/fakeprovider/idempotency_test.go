// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// TestIdempotencyKeys: one key is processed once, also where calls come at once, and whole streams are given again; a
// key of another account is another key, and a failure is no answer to keep.
func TestIdempotencyKeys(t *testing.T) {
	s := New(Options{})
	if err := s.Inject(Fault{Kind: FaultOverload}); err != nil {
		t.Fatal(err)
	}
	ask := func(account, key, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+account)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w
	}
	plain := `{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}`
	stream := `{"model":"gpt-4.1","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	if first := ask("sk-a", "one", plain); first.Code != http.StatusServiceUnavailable {
		t.Fatalf("the fault was not played: %d", first.Code)
	}
	for _, body := range []string{plain, stream} {
		first := ask("sk-a", "of "+body[:30], body)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if again := ask("sk-a", "of "+body[:30], body); again.Code != http.StatusOK || again.Body.String() != first.Body.String() {
					t.Errorf("%d %s, first %s", again.Code, again.Body, first.Body)
				}
			})
		}
		group.Wait()
	}
	ask("sk-b", "of "+plain[:30], plain)
	ask("sk-a", "one", plain)
	verdicts := map[string]int{}
	for _, a := range s.Arrivals() {
		verdicts[a.Verdict]++
	}
	if verdicts["Admitted"] != 4 || verdicts[VerdictReplayed] != 40 || verdicts["Fault"] != 1 {
		t.Errorf("%v", verdicts)
	}
}
