// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/wire"
)

// FuzzCallersWords: whatever a caller says of its patience and its retries only shortens its own, and is counted under a
// name of the closed set.
func FuzzCallersWords(f *testing.F) {
	f.Add("30s", "60", "1", "attempt=2; max=3", "python")
	f.Add("-1h", "-5", "-1", "attempt=", "")
	f.Add("2562047h48m", "1e300", "99999999999999999999", "attempt=9;attempt=1", "go")
	f.Add("NaN", "NaN", "0x1", ";;;", "cobol")
	f.Add("", "", "", "ttl=99991231T235959Z; attempt=1", "")
	f.Fuzz(func(t *testing.T, deadline, timeout, retries, attempt, lang string) {
		h := http.Header{
			HeaderDeadline: {deadline}, "X-Stainless-Timeout": {timeout}, "X-Stainless-Read-Timeout": {timeout}, "X-Server-Timeout": {timeout},
			"X-Stainless-Retry-Count": {retries}, "Amz-Sdk-Request": {attempt}, "X-Stainless-Lang": {lang}, "User-Agent": {lang},
		}
		if d := patience(h, time.Minute, time.Unix(1_800_000_000, 0)); d < 0 || d > time.Minute {
			t.Errorf("a patience of %s", d)
		}
		if _, ok := statedDeadline(h); ok == malformedDeadline(h) {
			t.Errorf("%q is a deadline and is none", deadline)
		}
		if sdk := stackedBy(h); sdk != "" && !slices.Contains(wire.SDKs[:], sdk) {
			t.Errorf("counted as %q", sdk)
		}
	})
}
