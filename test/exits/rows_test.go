// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package exits

import (
	"os"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// times is how often a call ends in each way, at once: as many as two busy cores open connections for in time, under the
// race detector; a hundred where HEADGATE_EXITS_ROUNDS asks for more than CI does.
var times = func() int {
	if os.Getenv("HEADGATE_EXITS_ROUNDS") != "" {
		return 100
	}
	return 25
}()

// row is a way for calls to end. Each has a route of its own, whose limits are touched by nothing else.
type row struct {
	name string
	// url replaces the provider's; fields are further fields of the route, and slots its in-flight limit.
	url, fields string
	slots       int
	// requests is a limit in place of the large one.
	requests string
	// faults are played on the row's calls.
	faults []fakeprovider.Fault
	// stream asks for one; headers are the caller's.
	stream  bool
	headers []string
	// leave is when the client leaves; with midway once it has the first bytes, and with unsent while it still sends.
	leave  time.Duration
	midway bool
	unsent bool
	// statuses are what clients may get, 0 for none or a broken answer; outcomes what they may be counted as.
	statuses []int
	outcomes []string
	// free rows cost no tokens, paid ones what the provider counted; of others some are charged by estimate.
	free, paid bool
}

const (
	always  = -1
	quickly = "unguided: {base: 50ms, cap: 200ms}\n    overload: {base: 50ms, cap: 200ms}\n    "
)

// pinged is a lane whose streams hear pings while they wait, so long at most.
func pinged(wait string) string {
	return "lanes: [{name: all, queue: {maxWait: " + wait + ", keepAlive: Pings}}]\n    "
}

// fault is one that is played on every call, or on the first ones.
func fault(kind fakeprovider.FaultKind, count int, change func(*fakeprovider.Fault)) []fakeprovider.Fault {
	f := fakeprovider.Fault{Kind: kind, Count: count}
	if change != nil {
		change(&f)
	}
	return []fakeprovider.Fault{f}
}

func respond(status int) []fakeprovider.Fault {
	return fault(fakeprovider.FaultRespond, always, func(f *fakeprovider.Fault) { f.Status = status })
}

func throttle(count int, after string) []fakeprovider.Fault {
	return fault(fakeprovider.FaultThrottle, count, func(f *fakeprovider.Fault) { f.RetryAfter = after })
}

func slow(count int, firstByte, chunk int64) []fakeprovider.Fault {
	return fault(fakeprovider.FaultSlow, count, func(f *fakeprovider.Fault) { f.FirstByteMillis, f.ChunkMillis = firstByte, chunk })
}

func after(kind fakeprovider.FaultKind, content int) []fakeprovider.Fault {
	return fault(kind, always, func(f *fakeprovider.Fault) { f.AfterContent = content })
}

// ofTheApp plays faults on the app's own key only: the route that calls fail over to has another.
func ofTheApp(faults []fakeprovider.Fault) []fakeprovider.Fault {
	for i := range faults {
		faults[i].Key = fakeprovider.KeyHash(appKey)
	}
	return faults
}

func rows(silent string) []row {
	out := append(answered(), refused()...)
	return append(append(out, broken(silent)...), left()...)
}

// answered rows end with the provider's own answer.
func answered() []row {
	failed := []string{"failed", "refused"}
	return []row{
		{name: "success", statuses: []int{200}, outcomes: []string{"success"}, paid: true},
		{name: "stream", stream: true, statuses: []int{200}, outcomes: []string{"success"}, paid: true},
		{name: "bad-request", faults: respond(400), statuses: []int{400}, outcomes: failed, free: true},
		{name: "unauthorised", faults: respond(401), statuses: []int{401}, outcomes: failed, free: true},
		{name: "stream-401", stream: true, faults: respond(401), statuses: []int{401}, outcomes: failed, free: true},
		{name: "redirect", faults: respond(307), statuses: []int{307}, outcomes: failed, free: true},
		{name: "server-error", faults: respond(500), statuses: []int{500}, outcomes: failed},
		{name: "gateway-timeout", faults: respond(504), statuses: []int{504}, outcomes: failed},
		{name: "overloaded", fields: quickly, faults: fault(fakeprovider.FaultOverload, always, nil), statuses: []int{529, 503, 429}, outcomes: failed, free: true},
		{name: "no-quota", faults: fault(fakeprovider.FaultQuota, always, nil), statuses: []int{400, 402, 403, 429}, outcomes: failed, free: true},
		{name: "told-to-wait", faults: throttle(times, "1"), statuses: []int{200, 429}, outcomes: []string{"success", "failed", "refused"}, paid: true},
		{name: "told-nothing", fields: quickly, faults: throttle(times, ""), statuses: []int{200, 429}, outcomes: []string{"success", "failed", "refused"}, paid: true},
		{name: "told-too-long", faults: throttle(always, "500"), statuses: []int{429}, outcomes: failed, free: true},
		{name: "deadline-in-backoff", faults: throttle(always, "1"), headers: []string{"Headgate-Deadline", "2s"}, statuses: []int{429}, outcomes: failed, free: true},
		{name: "failed-over", fields: "throttle: {onCeilingExceeded: Failover, failoverTo: anthropic}\n    ", faults: ofTheApp(throttle(always, "500")), statuses: []int{200}, outcomes: []string{"failed_over"}, free: true},
		{name: "overload-inside", fields: quickly, stream: true, faults: after(fakeprovider.FaultStreamOverload, 0), statuses: []int{200, 429, 503, 529}, outcomes: failed},
		{name: "overload-midway", stream: true, faults: after(fakeprovider.FaultStreamOverload, 2), statuses: []int{200}, outcomes: failed},
	}
}

// refused rows end with the gateway's own answer.
func refused() []row {
	return []row{
		{name: "at-admission", requests: "amount: 1, per: Hour", headers: []string{"Headgate-Deadline", "1s"}, statuses: []int{200, 429}, outcomes: []string{"success", "refused"}, paid: true},
		{name: "deadline-in-queue", slots: 1, faults: slow(1, 3000, 0), headers: []string{"Headgate-Deadline", "1s"}, statuses: []int{200, 429}, outcomes: []string{"success", "refused"}, paid: true},
		{name: "queue-full", slots: 1, fields: "lanes: [{name: all, queue: {maxDepth: 4, maxWait: 2s}}]\n    ", faults: slow(1, 3000, 0), statuses: []int{200, 429}, outcomes: []string{"success", "refused"}, paid: true},
		{name: "refused-behind-pings", slots: 1, stream: true, fields: pinged("2s"), faults: slow(1, 3000, 0), statuses: []int{200, 429}, outcomes: []string{"success", "refused"}, paid: true},
		{name: "no-credential", fields: "credentialKey: missing\n    ", statuses: []int{503}, outcomes: []string{"unreachable"}, free: true},
		{name: "deferred", requests: "amount: 1200, per: Minute, burst: 1", fields: "credentialKey: anthropic\n    deadline: {default: 1s, onExceeded: Defer}\n    ", headers: []string{"Headgate-Deadline", "0s"}, statuses: []int{200, 202}, outcomes: []string{"success", "deferred"}, paid: true},
	}
}

// broken rows end with a connection that breaks.
func broken(silent string) []row {
	return []row{
		{name: "no-connection", url: "https://127.0.0.1:1", fields: quickly, statuses: []int{502, 429}, outcomes: []string{"unreachable", "refused"}, free: true},
		{name: "no-handshake", url: silent, headers: []string{"Headgate-Deadline", "11s"}, statuses: []int{502, 429}, outcomes: []string{"unreachable", "refused"}, free: true},
		{name: "reset", faults: after(fakeprovider.FaultReset, 0), statuses: []int{502}, outcomes: []string{"unreachable"}},
		{name: "closes-unanswered", faults: fault(fakeprovider.FaultHang, always, func(f *fakeprovider.Fault) { f.FirstByteMillis = 1000 }), statuses: []int{502}, outcomes: []string{"unreachable"}},
		{name: "reset-midway", stream: true, faults: after(fakeprovider.FaultReset, 2), statuses: []int{0}, outcomes: []string{"truncated"}},
		{name: "truncated", stream: true, faults: after(fakeprovider.FaultTruncate, 2), statuses: []int{0}, outcomes: []string{"truncated"}},
	}
}

// left rows end since the client leaves, long before anything else would end them.
func left() []row {
	gone := []string{"client_cancelled"}
	const long = 120_000
	return []row{
		{name: "leaves-queue", slots: 1, faults: slow(always, long, 0), leave: 500 * time.Millisecond, statuses: []int{0}, outcomes: gone},
		{name: "leaves-backoff", faults: throttle(always, "25"), leave: 500 * time.Millisecond, statuses: []int{0}, outcomes: gone},
		{name: "leaves-early", faults: slow(always, long, 0), leave: 300 * time.Millisecond, statuses: []int{0}, outcomes: gone},
		{name: "leaves-stream-early", stream: true, faults: slow(always, long, 0), leave: 300 * time.Millisecond, statuses: []int{0}, outcomes: gone},
		{name: "leaves-pings", slots: 1, stream: true, fields: pinged("50s"), faults: slow(always, long, 0), leave: 500 * time.Millisecond, statuses: []int{0}, outcomes: gone},
		{name: "leaves-midway", stream: true, faults: slow(always, 0, long/10), midway: true, statuses: []int{0}, outcomes: gone},
		{name: "leaves-unsent", unsent: true, leave: 300 * time.Millisecond, statuses: []int{0}, outcomes: nil, free: true},
	}
}
