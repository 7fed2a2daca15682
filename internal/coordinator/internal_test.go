// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
	"github.com/headgate-dev/headgate/internal/wire"
)

func TestIdentify(t *testing.T) {
	good := func() authenticationv1.TokenReviewStatus {
		return authenticationv1.TokenReviewStatus{
			Authenticated: true, Audiences: []string{"headgate"},
			User: authenticationv1.UserInfo{
				Username: "system:serviceaccount:ns:app",
				Extra:    map[string]authenticationv1.ExtraValue{extraPodName: {"a"}, extraPodUID: {"u"}},
			},
		}
	}
	for name, spoil := range map[string]func(*authenticationv1.TokenReviewStatus){
		"not authenticated": func(s *authenticationv1.TokenReviewStatus) { s.Authenticated = false },
		"another audience":  func(s *authenticationv1.TokenReviewStatus) { s.Audiences = []string{"vault"} },
		"a person":          func(s *authenticationv1.TokenReviewStatus) { s.User.Username = "admin" },
		"no account":        func(s *authenticationv1.TokenReviewStatus) { s.User.Username = "system:serviceaccount:ns" },
		"no namespace":      func(s *authenticationv1.TokenReviewStatus) { s.User.Username = "system:serviceaccount::app" },
		"no pod":            func(s *authenticationv1.TokenReviewStatus) { delete(s.User.Extra, extraPodName) },
		"no UID":            func(s *authenticationv1.TokenReviewStatus) { delete(s.User.Extra, extraPodUID) },
		"two pods":          func(s *authenticationv1.TokenReviewStatus) { s.User.Extra[extraPodName] = []string{"a", "b"} },
	} {
		status := good()
		spoil(&status)
		if id, err := identify(status); !errors.Is(err, ErrNotVerified) {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
	id, err := identify(good())
	if want := (figures.Pod{Namespace: "ns", Name: "a", UID: "u"}); err != nil || id.Pod != want {
		t.Errorf("identity %+v, %v", id, err)
	}
}

func TestExpiry(t *testing.T) {
	jwt := func(payload string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".sig"
	}
	for token, want := range map[string]time.Time{
		jwt(`{"exp":1700000000}`): time.Unix(1700000000, 0),
		jwt(`{"exp":-5}`):         {},
		jwt(`{"exp":"soon"}`):     {},
		jwt(`{}`):                 {},
		jwt(`{`):                  {},
		"a.b":                     {},
		"a.!!.c":                  {},
		"":                        {},
	} {
		if got := expiry(token); !got.Equal(want) {
			t.Errorf("%q expires at %v, want %v", token, got, want)
		}
	}
}

func TestVersionLabelsAreBounded(t *testing.T) {
	s := newStats()
	labels := map[string]bool{}
	for i := range 100 {
		labels[s.version(fmt.Sprint("v1.", i))] = true
	}
	if len(labels) != maxVersions+1 || !labels[otherVersion] {
		t.Errorf("labels %v", labels)
	}
	for _, bad := range []string{"", "a b", "x\ny", "ü", "{}"} {
		if got := newStats(); got.version(bad) != otherVersion {
			t.Errorf("%q is a label", bad)
		}
	}
}

// E8: a namespace that goes, with its gateways, leaves nothing behind.
func TestANamespaceThatWentIsForgotten(t *testing.T) {
	s := New(Options{Leadership: leads(true)})
	encoded, err := plan.Encode(plan.Plan{Version: plan.Version, Revision: 1, Namespace: "ns"})
	if err != nil {
		t.Fatal(err)
	}
	s.SetPlan("ns", 1, encoded)
	s.turn(time.Now(), true)
	if len(s.spaces) != 1 || s.spaces["ns"].plan == nil {
		t.Fatalf("spaces %v", s.spaces)
	}
	s.SetPlan("ns", 0, nil)
	s.turn(time.Now(), true)
	if len(s.spaces) != 0 {
		t.Errorf("spaces %v", s.spaces)
	}
}

type leads bool

func (l leads) Leader() (string, bool) { return "a:1", bool(l) }
func (l leads) Epoch() uint64          { return 1 }
func (l leads) First() bool            { return false }

// The manager's metrics have the names and labels that are documented, and a replica that does not lead has
// none of policies.
func TestMetrics(t *testing.T) {
	store := figures.NewStore()
	s := New(Options{Figures: store, Leadership: leads(true)})
	s.lead.self = true
	store.Observe(figures.Pod{Namespace: "ns", Name: "a", UID: "u"}, 1, &wire.Report{
		Sequence: 1, UptimeMillis: 1,
		Routes: []*wire.RouteReport{{
			Policy: "p", Provider: "openai", Sends: 7, TooManyRequests: 2,
			Limits: []*wire.LimitReport{{Name: "tokens", Level: -3, Spent: 10, Offered: 20}},
			Lanes: []*wire.LaneReport{{
				Name: "chat", Sent: 5, Refused: map[string]uint64{"Deadline": 4, "an invented reason": 1},
				WaitBuckets: []uint64{4, 1}, WaitTotalMillis: 12, OldestWaitMillis: 1500, Queued: 2,
			}},
			Models: []*wire.ModelTokens{{Model: "m", Input: 6}},
		}},
	}, time.Now())
	want := `
# HELP headgate_calls_total Calls by what became of them: sent, refused by the policy, cancelled while queued.
# TYPE headgate_calls_total counter
headgate_calls_total{lane="chat",namespace="ns",outcome="cancelled",policy="p",provider="openai",reason=""} 0
headgate_calls_total{lane="chat",namespace="ns",outcome="refused",policy="p",provider="openai",reason="Deadline"} 4
headgate_calls_total{lane="chat",namespace="ns",outcome="refused",policy="p",provider="openai",reason="Other"} 1
headgate_calls_total{lane="chat",namespace="ns",outcome="sent",policy="p",provider="openai",reason=""} 5
# HELP headgate_limit_remaining What could go now, in the limit's unit; negative is debt.
# TYPE headgate_limit_remaining gauge
headgate_limit_remaining{limit="tokens",namespace="ns",policy="p",provider="openai"} -3
# HELP headgate_queue_oldest_seconds How long the oldest queued call has waited.
# TYPE headgate_queue_oldest_seconds gauge
headgate_queue_oldest_seconds{lane="chat",namespace="ns",policy="p",provider="openai"} 1.5
`
	names := []string{"headgate_calls_total", "headgate_limit_remaining", "headgate_queue_oldest_seconds"}
	if err := testutil.CollectAndCompare(s, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.CollectAndLint(s); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	s.lead.self = false
	if n := testutil.CollectAndCount(s, names...); n != 0 {
		t.Errorf("a replica that does not lead shows %d series of policies", n)
	}
}
