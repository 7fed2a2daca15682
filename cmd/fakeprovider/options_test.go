// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
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

// TestLimitsOfEveryDialectByName: each that is simulated can be limited, in any spelling of its name.
func TestLimitsOfEveryDialectByName(t *testing.T) {
	for _, d := range fakeprovider.Dialects() {
		for _, name := range []string{string(d), strings.ToLower(string(d))} {
			o, err := parse("--limit="+name+":InputTokens=123/1h", "--guidance="+name+"=own", "--charges="+name+"=AsProduced")
			if err != nil {
				t.Fatal(err)
			}
			p := o.provider.Profiles[d]
			if len(p.Limits) != 1 || p.Limits[0].Amount != 123 || p.Limits[0].Window != time.Hour || p.Guidance != "own" || p.Charges != "AsProduced" {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

// TestEachFlagReachesTheProvider sets every flag that is one field of the provider's options.
func TestEachFlagReachesTheProvider(t *testing.T) {
	o, err := parse("--first-byte=1s", "--per-token=2ms", "--output-tokens=3", "--skew=-4s", "--omit-date", "--gzip",
		"--max-arrivals=5", "--key=a", "--key=b", "--charge-rejected", "--dialect=gemini",
		"--aws-secret=AKIATEST=c2VjcmV0==", "--tls-hosts=a.example,10.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	want := fakeprovider.Options{
		FirstByte: time.Second, PerToken: 2 * time.Millisecond, OutputTokens: 3, Skew: -4 * time.Second, OmitDate: true,
		Gzip: true, MaxArrivals: 5, Keys: []string{"a", "b"}, Dialect: fakeprovider.Gemini,
		AWSSecrets: map[string]string{"AKIATEST": "c2VjcmV0=="}, Profiles: o.provider.Profiles,
	}
	if diff := cmp.Diff(want, o.provider); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for d, p := range o.provider.Profiles {
		if !p.ChargeRejected {
			t.Errorf("%s: refused calls cost nothing", d)
		}
	}
	o.tlsDir = t.TempDir()
	certificate, err := o.certificate()
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	for host, good := range map[string]bool{"a.example": true, "10.0.0.1": true, "localhost": false} {
		if err := leaf.VerifyHostname(host); (err == nil) != good {
			t.Errorf("the certificate is for %s: %v", host, err)
		}
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
		"--limit=OpenAI:Apples=1", "--dialect=nobody", "--aws-secret=AKIATEST", "--guidance=OpenAI=maybe", "--charges=Nobody=AsProduced", "--group=x",
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
