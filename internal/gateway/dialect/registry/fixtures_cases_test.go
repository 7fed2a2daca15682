// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	facts "github.com/headgate-dev/headgate/internal/dialect"
	"github.com/headgate-dev/headgate/internal/gateway/dialect"
)

// each calls check for every response of every dialect.
func each(t *testing.T, check func(t *testing.T, f *fixture)) {
	t.Helper()
	for name, file := range fixtureFiles(t) {
		for _, f := range file {
			if f.Response != nil {
				t.Run(name+"/"+f.Name, func(t *testing.T) { check(t, &f) })
			}
		}
	}
}

// TestA7QuotasAreNeverAThrottlesWait: no quota of any provider is given the reset of a budget that is not used up.
func TestA7QuotasAreNeverAThrottlesWait(t *testing.T) {
	quotas := 0
	each(t, func(t *testing.T, f *fixture) {
		t.Helper()
		got := f.read(t)
		if got.Class != dialect.ClassQuota {
			return
		}
		quotas++
		wait, source, _ := got.Reading.Wait(got.Class)
		if source != dialect.SourceResetHeader {
			return
		}
		if !slices.ContainsFunc(got.Reading.Budgets, func(b dialect.BudgetReading) bool {
			return b.Remaining == 0 && b.HasReset && b.Reset == wait
		}) {
			t.Errorf("%v from no budget that is used up: %+v", wait, got.Reading.Budgets)
		}
	})
	if quotas < len(facts.All())-1 {
		t.Errorf("only %d quotas are recorded", quotas)
	}
}

// TestA10NoBudgetIsNegativeOrMadeUp: what a header does not state is -1, and what one states is never below zero.
func TestA10NoBudgetIsNegativeOrMadeUp(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		t.Helper()
		bare := f.d.ReadHeaders(f.Response.Status(), map[string][]string{}, received)
		if len(bare.Budgets) > 0 || bare.Source != dialect.SourceNone || bare.RetryAfter != 0 {
			t.Errorf("from no header: %+v", bare)
		}
		for _, b := range f.read(t).Reading.Budgets {
			stated := b.Limit >= 0 || b.Remaining >= 0 || b.HasReset
			if !stated || b.Limit < -1 || b.Remaining < -1 || b.Reset < 0 || b.RoundedTo < 1 || b.Limit > 0 && b.Remaining > b.Limit {
				t.Errorf("%+v", b)
			}
		}
	})
}

// TestB5EveryChatStreamReportsUsage: by itself, or because it can be asked to. Streams of other formats always do.
//
// Fault B5: Streams that state no usage were counted as nothing, and a null overwrote what had been stated.
// Headgate: Usage is asked for where the API knows how, once more without where a host refuses that, a null replaces
// nothing, and what stays unknown is settled at the estimate.
func TestB5EveryChatStreamReportsUsage(t *testing.T) {
	for name, file := range fixtureFiles(t) {
		for _, f := range file {
			if f.Request == nil {
				continue
			}
			op, _, r := f.requestOf(t)
			if !op.Metered || op.Format != dialect.FormatChat || !r.Stream || r.WantsUsage {
				continue
			}
			if splice, ok := f.d.InjectUsage(op, f.Request.Body); !ok {
				t.Errorf("%s/%s: a stream of %s would tell no usage, and cannot be asked", name, f.Name, op.Format)
			} else if again := f.d.ReadRequest(op, f.Request.Header.Get("Content-Type"), splice.Apply(f.Request.Body)); !again.WantsUsage {
				t.Errorf("%s/%s: asked, it is not asked: %s", name, f.Name, splice.Apply(f.Request.Body))
			}
		}
	}
}

// TestB6OnlyAnInjectedChunkIsTakenOut: where usage can be asked for, one chunk without choices goes and every other
// byte stays; where it cannot, nothing goes.
func TestB6OnlyAnInjectedChunkIsTakenOut(t *testing.T) {
	var taken atomic.Int32
	streams(t, func(t *testing.T, f *fixture, op dialect.Operation) {
		t.Helper()
		_, asks := f.d.InjectUsage(op, []byte(`{"stream":true}`))
		got := f.meter(op, true, f.Response.Body)
		want := f.Response.Body
		if asks {
			want = withoutUsageChunk(want)
		}
		if !bytes.Equal(got.Passed, want) {
			t.Errorf("passed\n%q\nwant\n%q", got.Passed, want)
		}
		if kept := f.meter(op, false, f.Response.Body); kept.Usage != got.Usage {
			t.Errorf("%+v, and %+v with the chunk", got.Usage, kept.Usage)
		}
		if len(want) < len(f.Response.Body) {
			taken.Add(1)
		}
	})
	t.Cleanup(func() {
		if taken.Load() == 0 {
			t.Error("no stream had such a chunk")
		}
	})
}

// withoutUsageChunk takes out the events that have usage and an empty list of choices.
func withoutUsageChunk(stream []byte) []byte {
	var out []string
	for _, event := range strings.SplitAfter(string(stream), "\n\n") {
		flat := strings.ReplaceAll(event, " ", "")
		if !strings.Contains(flat, `"choices":[]`) || !strings.Contains(flat, `"usage":{`) {
			out = append(out, event)
		}
	}
	return []byte(strings.Join(out, ""))
}

// TestB9NoPrefixOfAStreamIsComplete: a stream cut anywhere before its own end is seen to be cut.
func TestB9NoPrefixOfAStreamIsComplete(t *testing.T) {
	streams(t, func(t *testing.T, f *fixture, op dialect.Operation) {
		t.Helper()
		whole := f.meter(op, false, f.Response.Body)
		if !whole.Complete {
			return
		}
		first := len(f.Response.Body)
		for i := range first {
			if f.meter(op, false, f.Response.Body[:i]).Complete {
				first = i
				break
			}
		}
		// Content must not come after what was taken for the end.
		if rest := f.meter(op, false, f.Response.Body[first:]); rest.Output > 0 && first < len(f.Response.Body)/2 {
			t.Errorf("complete after %d of %d bytes, with %d tokens still to come", first, len(f.Response.Body), rest.Output)
		}
	})
}

// TestC1UsageOnlyGrows: cutting a stream short never finds more than the whole has: nothing is added twice.
func TestC1UsageOnlyGrows(t *testing.T) {
	streams(t, func(t *testing.T, f *fixture, op dialect.Operation) {
		t.Helper()
		whole := f.meter(op, false, f.Response.Body).Usage
		for i := range f.Response.Body {
			part := f.meter(op, false, f.Response.Body[:i]).Usage
			if part.Input > whole.Input || part.Output > whole.Output || part.CachedRead > whole.CachedRead || part.CacheWrite > whole.CacheWrite {
				t.Fatalf("after %d bytes %+v, in the end %+v", i, part, whole)
			}
		}
	})
}

// TestC3CachedTokensAreChargedOnce: with every provider, cached reads are either free or counted once, on whichever
// side of the input they stand.
func TestC3CachedTokensAreChargedOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		t.Helper()
		u := f.read(t).Usage
		if u.Input < 0 {
			return
		}
		read, write := max(u.CachedRead, 0), max(u.CacheWrite, 0)
		all := u.Input
		if u.CacheOutside {
			all += read + write
		}
		if got := u.ChargedInput(false); got != all {
			t.Errorf("%+v is charged %d, want %d", u, got, all)
		}
		if got := u.ChargedInput(true); got != all-read {
			t.Errorf("%+v is charged %d without cached reads, want %d", u, got, all-read)
		}
		if !u.CacheOutside && read > u.Input {
			t.Errorf("%+v: more read from the cache than there is input", u)
		}
	})
}

// TestC3TheKnownCharges: the two cases that every gateway gets wrong.
func TestC3TheKnownCharges(t *testing.T) {
	files := fixtureFiles(t)
	for _, tc := range []struct {
		dialect, fixture string
		want             int64
	}{
		{"Anthropic", "message", 700},
		{"OpenAI", "C3-cached-tokens-are-a-subset", 10_000},
	} {
		i := slices.IndexFunc(files[tc.dialect], func(f fixture) bool { return f.Name == tc.fixture })
		if i < 0 {
			t.Fatalf("no fixture %s/%s", tc.dialect, tc.fixture)
		}
		f := files[tc.dialect][i]
		if got := f.read(t).Usage.ChargedInput(f.d.Facts().CachedInputFree); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.dialect, got, tc.want)
		}
	}
}
