// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"fmt"
	"net/http"
	"testing"
)

// declined: the provider wants a longer wait than the policy honours, or never says how long and refuses until the
// gateway gives up. It must see the gateway's attempts, not those times the SDK's own.
func (r *row) declined(t *testing.T) {
	const key = "sk-declined"
	r.Inject(r.throttle(declinedSeconds, -1, key))
	o := r.ask(t, key, scenario{Options: r.off})
	want := 1
	if r.unguided {
		want = attempts
	}
	sends := r.sends(key)
	r.raised(t, o)
	if len(sends) != want {
		t.Errorf("the provider saw %d sends, not the %d of the gateway: %+v", len(sends), want, sends)
	}
	r.once(t, sends)
	r.result.Declined = o.Error.Type
	switch wait := o.Error.WaitSeconds; {
	case r.unguided:
		r.result.Declined += ", no wait stated"
	case wait == nil || *wait != declinedSeconds:
		t.Errorf("the error %+v does not say to wait %d s", o.Error, declinedSeconds)
	default:
		r.result.Declined += ", with the wait"
	}
	r.result.Sends = fmt.Sprintf("%d of %d", len(sends), want)
}

// raised fails unless the SDK's own error for rate limits came up.
func (r *row) raised(t *testing.T, o outcome) {
	t.Helper()
	if o.Error == nil || o.Error.Abandoned || o.Error.Status != 0 && o.Error.Status != http.StatusTooManyRequests {
		t.Fatalf("outcome %+v, error %+v", o, o.Error)
	}
}

// declinedByDefault shows what an SDK does that does not obey, without the setting that stops its own retries.
func (r *row) declinedByDefault(t *testing.T) {
	if r.off == nil {
		return
	}
	const key = "sk-declined-by-default"
	const patience = 6_000
	before := r.metric(t, "headgate_stacked_retries_total")
	r.Inject(r.throttle(declinedSeconds, -1, key))
	o := r.ask(t, key, scenario{GiveUpMillis: patience})
	sends := r.sends(key)
	if o.Error == nil || len(sends) < 2 {
		t.Errorf("the SDK obeys, and needs no setting: outcome %+v, error %+v, %d sends", o, o.Error, len(sends))
	}
	seen := r.metric(t, "headgate_stacked_retries_total") - before
	t.Logf("%d sends, %v of them seen as an SDK's own retries, in %.0f ms", len(sends), seen, o.TookMillis)
	r.result.ByDefault = "asks again, unseen"
	if seen > 0 {
		r.result.ByDefault = "asks again, counted"
	}
}

// refused: the policy's own limit is used up, and the provider must see nothing of the second call.
func (r *row) refused(t *testing.T) {
	const key = "sk-refused"
	if o := r.ask(t, key, scenario{Model: scarce}); o.Error != nil {
		t.Fatalf("the first call: %+v", o.Error)
	}
	o := r.ask(t, key, scenario{Model: scarce, Options: r.off})
	r.raised(t, o)
	if n := len(r.sends(key)); n != 1 {
		t.Errorf("the provider saw %d sends: what was refused was sent", n)
	}
	r.result.Refused = o.Error.Type
	if wait := o.Error.WaitSeconds; wait == nil || *wait < 3_000 || *wait > 3_600 {
		t.Errorf("the error %+v does not say to wait for most of an hour", o.Error)
	} else {
		r.result.Refused += ", with the wait"
	}
}
