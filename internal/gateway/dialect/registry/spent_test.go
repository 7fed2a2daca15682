// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"net/http"
	"testing"
	"time"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// TestA7CodesOfSpentMoneyAreKnownWhoeverSendsThem: a server of one API hands on the codes of another that is behind it. No
// wait cures them, and none is made of the headers beside them.
func TestA7CodesOfSpentMoneyAreKnownWhoeverSendsThem(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`,
		`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":null}}`,
		`{"error":{"message":"x","code":"insufficient_quota"}}`, `{"message":"x","type":"insufficient_quota"}`, `{"code":"insufficient_quota"}`,
		`[{"error":{"message":"{\"error\":{\"code\":\"insufficient_quota\"}}"}}]`,
		`{"type":"error","error":{"type":"billing_error","message":"x"}}`, `{"error":{"code":"out_of_credits","message":"x"}}`,
		`{"type":"error","error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}`,
		`{"error":{"message":"x","type":"exceeded_current_quota_error"}}`,
		`{"error":{"message":"x","type":"budget_exceeded","param":null,"code":"400"}}`, `{"error":{"message":"x","code":"Arrearage"}}`,
	} {
		for _, f := range facts.All() {
			d := ByName(f.Name)
			if d == nil {
				continue
			}
			for _, status := range []int{http.StatusTooManyRequests, http.StatusForbidden, http.StatusBadRequest} {
				r := d.ReadHeaders(status, http.Header{}, time.Unix(1_800_000_000, 0))
				if got := d.ReadFailure(status, http.Header{}, []byte(body), &r); got.Class != dialect.ClassQuota {
					t.Errorf("%s, %d: %s is %s", f.Name, status, body, got.Class)
				}
			}
		}
	}
}

// TestA7AThrottleIsNoneOfThem, in whatever words it says that a quota was exceeded.
func TestA7AThrottleIsNoneOfThem(t *testing.T) {
	for _, f := range facts.All() {
		d := ByName(f.Name)
		if d == nil {
			continue
		}
		r := d.ReadHeaders(http.StatusTooManyRequests, http.Header{}, time.Unix(1_800_000_000, 0))
		got := d.ReadFailure(http.StatusTooManyRequests, http.Header{}, []byte(`{"error":{"message":"insufficient_quota? No: tokens per min.","type":"tokens"}}`), &r)
		if got.Class == dialect.ClassQuota {
			t.Errorf("%s: %+v", f.Name, got)
		}
	}
}
