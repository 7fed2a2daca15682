// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package sdks

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/dataplane"
	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// declined: the provider wants a longer wait than the policy honours, or never says how long and refuses until the
// gateway gives up. It must see the gateway's attempts, not those times the SDK's own.
func (r *row) declined() {
	t := r.t
	const key = "sk-c4n4ryKey-declined"
	r.Inject(r.throttle(declinedSeconds, -1, key))
	asked := r.asked(t)
	o := r.ask(t, key, scenario{Options: r.off})
	if n := r.asked(t) - asked; n != 1 {
		t.Errorf("the SDK has asked %v times", n)
	}
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
	r.result.Declined = fmt.Sprintf("%s, with the wait, sent %d×", o.Error.Type, len(sends))
	switch wait := o.Error.WaitSeconds; {
	case r.unguided:
		r.result.Declined = fmt.Sprintf("%s, sent %d×; it states no wait", o.Error.Type, len(sends))
	case wait == nil || *wait != declinedSeconds:
		t.Errorf("the error %+v does not say to wait %d s", o.Error, declinedSeconds)
	}
}

// asked is how often the app has asked the gateway.
func (r *row) asked(t *testing.T) float64 {
	t.Helper()
	return r.metric(t, "headgate_calls_offered_total")
}

// raised fails unless the SDK's own error for rate limits came up.
func (r *row) raised(t *testing.T, o outcome) {
	t.Helper()
	if o.Error == nil || o.Error.Abandoned || o.Error.Status != 0 && o.Error.Status != http.StatusTooManyRequests {
		t.Fatalf("outcome %+v, error %+v", o, o.Error)
	}
}

// declinedByDefault shows what an SDK does that does not obey, without the setting that stops its own retries.
func (r *row) declinedByDefault() {
	t := r.t
	if r.off == nil {
		return
	}
	const key = "sk-c4n4ryKey-declined-by-default"
	const patience = 20_000
	asked, seen := r.asked(t), r.stacked(t)
	r.Inject(r.throttle(declinedSeconds, -1, key))
	o := r.ask(t, key, scenario{GiveUpMillis: patience})
	// In this order: one more may be on its way when the app loses its patience.
	sends := len(r.sends(key))
	offered, retries := r.asked(t), r.stacked(t)
	if r.counted != "" {
		// And it may come between the one figure and the other.
		for deadline := time.Now().Add(dataplane.Patience); retries-seen != offered-asked-1 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			offered, retries = r.asked(t), r.stacked(t)
		}
	}
	asked, seen = offered-asked, retries-seen
	t.Logf("%v calls, %v of them counted as an SDK's own retries, %d sends, in %.0f ms", asked, seen, sends, o.TookMillis)
	if o.Error == nil || asked < 2 {
		t.Errorf("the SDK obeys, and needs no setting: outcome %+v, error %+v", o, o.Error)
	}
	if sends < 2 || !r.unguided && sends > int(asked) {
		t.Errorf("the provider saw %d sends of %v calls", sends, asked)
	}
	r.result.OwnRetries = "after every 429; no header tells"
	if want := asked - 1; r.counted != "" {
		r.result.OwnRetries = "after every 429; counted as `" + r.counted + "`"
		if seen != want {
			t.Errorf("%v of %v calls are counted as the SDK's own retries", seen, asked)
		}
	}
}

// stacked is how many calls the gateway has found to be the SDK's own retries.
func (r *row) stacked(t *testing.T) float64 {
	t.Helper()
	return r.metric(t, "headgate_stacked_retries_total", `sdk="`+r.counted+`"`)
}

// retriedByItself: an SDK that obeys still tries again by itself what is no affair of the gateway's and passes through
// it untouched, here a conflict. Its headers tell, and the gateway counts it.
func (r *row) retriedByItself() {
	t := r.t
	switch {
	case r.off != nil:
		return
	case r.counted == "":
		r.result.OwnRetries = "none"
		return
	}
	const key = "sk-c4n4ryKey-retried"
	seen := r.stacked(t)
	r.Inject(fakeprovider.Fault{Kind: fakeprovider.FaultRespond, Status: http.StatusConflict, Key: fakeprovider.KeyHash(key)})
	o := r.ask(t, key, scenario{})
	if n := r.stacked(t) - seen; o.Error != nil || n != 1 {
		t.Errorf("%v calls are counted as %s's own retries: outcome %+v, error %+v", n, r.counted, o, o.Error)
	}
	r.result.OwnRetries = "none of a 429; of others counted as `" + r.counted + "`"
}

// refused: the policy's own limit is used up, and the provider must see nothing of the second call.
func (r *row) refused() {
	t := r.t
	const key = "sk-c4n4ryKey-refused"
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
