// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/headgate-dev/headgate/internal/testing/fakeprovider"
)

// parse reads flags as main does.
func parse(args ...string) (*options, error) {
	o := newOptions()
	fs := flag.NewFlagSet("fakeprovider", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	return o, o.Validate()
}

func TestLimitFlagsReplaceTheDefaultsOfTheirDialect(t *testing.T) {
	o, err := parse("--limit=anthropic:InputTokens=400000/1m/60000", "--limit=Anthropic:Requests=50", "--start-percent=25",
		"--charges=Anthropic=MaxAtAdmission", "--guidance=openai=none", "--group=claude-*=claude")
	if err != nil {
		t.Fatal(err)
	}
	percent := 25.0
	want := []fakeprovider.Limit{
		{Budget: "InputTokens", Amount: 400_000, Window: time.Minute, Burst: 60_000, StartPercent: &percent},
		{Budget: "Requests", Amount: 50, Window: time.Minute, StartPercent: &percent},
	}
	claude := o.provider.Profiles[fakeprovider.Anthropic]
	if diff := cmp.Diff(want, claude.Limits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if claude.Charges != "MaxAtAdmission" || o.provider.Profiles[fakeprovider.OpenAI].Guidance != "none" {
		t.Errorf("profiles = %+v", o.provider.Profiles)
	}
	if got := len(o.provider.Profiles[fakeprovider.OpenAI].Limits); got != 2 {
		t.Errorf("OpenAI has %d limits, want its default 2", got)
	}
	if len(o.provider.ModelGroups) != 1 || o.provider.ModelGroups[0].Name != "claude" {
		t.Errorf("groups = %+v", o.provider.ModelGroups)
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	script := filepath.Join(t.TempDir(), "faults.json")
	if err := os.WriteFile(script, []byte(`{"kind":"Surprise"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"--limit=nobody:Requests=1", "--limit=OpenAI:Requests", "--limit=OpenAI:Requests=NaN", "--limit=OpenAI:Requests=-1",
		"--limit=OpenAI:Requests=1/0s", "--limit=OpenAI:Requests=1/1m/x", "--limit=OpenAI:Requests=1/1m/1/1",
		"--limit=OpenAI:Apples=1", "--guidance=OpenAI=maybe", "--charges=Nobody=AsProduced", "--group=x",
		"--listen=", "--listen-tls=:0", "--tls-cert=x", "--tls-cert=a --tls-key=b --tls-dir=c", "--first-byte=-1s",
		"--start-percent=101", "--faults=" + script, "--faults=" + script + ".none",
	} {
		if _, err := parse(strings.Fields(args)...); err == nil {
			t.Errorf("%s: accepted", args)
		}
	}
}

func FuzzParseLimit(f *testing.F) {
	f.Add("Anthropic:InputTokens=400000/1m/60000")
	f.Add("openai:Requests=1e3")
	f.Fuzz(func(t *testing.T, s string) {
		_, limit, err := parseLimit(s)
		if err == nil && !(limit.Amount >= 0 && limit.Burst >= 0 && limit.Window > 0) {
			t.Errorf("%q: %+v", s, limit)
		}
	})
}
