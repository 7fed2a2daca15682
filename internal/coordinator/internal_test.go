// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import (
	"encoding/base64"
	"errors"
	"fmt"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/headgate-dev/headgate/internal/figures"
	"github.com/headgate-dev/headgate/internal/plan"
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
	s := New(Options{Leadership: leads(true), Pods: noPods{}})
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
func (l leads) Before() uint64         { return 0 }
func (l leads) First() bool            { return false }
func (l leads) Until() time.Time       { return time.Time{} }

type noPods struct{}

func (noPods) Labels(figures.Pod) (map[string]string, bool) { return nil, false }
func (noPods) Gateways(string) []figures.Pod                { return nil }
