// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func encode(tb testing.TB, p Plan) []byte {
	tb.Helper()
	out, err := Encode(p)
	if err != nil {
		tb.Fatalf("encode: %v", err)
	}
	return out
}

func TestParseReadsWhatEncodeWrites(t *testing.T) {
	want := testPlan()
	hold := int64(0)
	deferring(&want.Policies[0].Routes[0])
	want.Policies[0].Routes[0].Lanes[0] = Lane{
		Name: "bulk", Header: &Header{Name: "X-Kind", Value: "batch"}, Models: []string{"a*"}, Paths: []string{"/v1/*"},
		Priority: -5, Weight: 3, HoldMillis: &hold, MaxBytes: 1 << 20, CredentialKey: "batch",
	}
	want.Policies[1].Routes[0].Throttle.OnCeilingExceeded, want.Policies[1].Routes[0].Throttle.FailoverTo = Failover, "other"
	data := encode(t, want)
	got, err := Parse(data)
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("the plan changed (-want +got):\n%s", diff)
	}
	if again := encode(t, *got); !bytes.Equal(again, data) {
		t.Error("the same plan has other bytes the second time")
	}
}

// A gateway may read the file while the kubelet or an editor writes it.
func TestParseRefusesEveryHalfWrittenPlan(t *testing.T) {
	data := encode(t, testPlan())
	for length := range data {
		if _, err := Parse(data[:length]); err == nil {
			t.Fatalf("the first %d of %d bytes are taken for a plan", length, len(data))
		}
	}
}

func TestParseRefuses(t *testing.T) {
	valid := string(encode(t, testPlan()))
	tests := map[string]struct {
		data string
		want string
	}{
		"nothing":               {"", "read the plan"},
		"null":                  {"null", "version 0"},
		"another type":          {"[]", "read the plan"},
		"two plans":             {valid + valid, "follows"},
		"a newer version":       {strings.Replace(valid, `"version":3`, `"version":4`, 1), "version 4 is not known"},
		"no version":            {strings.Replace(valid, `"version":3,`, ``, 1), "version 0 is not known"},
		"a negative version":    {strings.Replace(valid, `"version":3`, `"version":-1`, 1), "version -1"},
		"a version of a string": {strings.Replace(valid, `"version":3`, `"version":"2"`, 1), "read the plan"},
		"an amount with a dot":  {strings.Replace(valid, `"amount":4000`, `"amount":0.5`, 1), "read the plan"},
		"an amount too large":   {strings.Replace(valid, `"amount":4000`, `"amount":99999999999999999999`, 1), "read the plan"},
		"too many bytes":        {valid + strings.Repeat(" ", MaxBytes), "900 KiB"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.data))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse = %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestE13ParseIgnoresFieldsAddedLater(t *testing.T) {
	data := strings.Replace(string(encode(t, testPlan())), `"version":3`, `"version":3,"later":{"a":[1]}`, 1)
	if _, err := Parse([]byte(data)); err != nil {
		t.Errorf("an unknown field is refused: %v", err)
	}
}

func TestEncodeRefusesWhatAnObjectCannotHold(t *testing.T) {
	p := testPlan()
	one := p.Policies[0]
	for i := range 2000 {
		one.Name = fmt.Sprintf("policy-%d", i)
		p.Policies = append(p.Policies, one)
	}
	if _, err := Encode(p); !errors.Is(err, ErrTooBig) {
		t.Errorf("Encode = %v, want ErrTooBig", err)
	}
}

func FuzzParse(f *testing.F) {
	valid := encode(f, testPlan())
	f.Add(valid)
	f.Add(valid[:len(valid)/2])
	f.Add([]byte(`{"version":1,"revision":1,"namespace":"x"}`))
	f.Add([]byte(`{"version":1,"revision":1,"namespace":"x","coordinatorCA":"-----BEGIN CERTIFICATE-----\n"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			return
		}
		again, err := Parse(encode(t, *p))
		if err != nil {
			t.Fatalf("a plan that was read is not read again: %v", err)
		}
		if !SameContent(*p, *again) || p.Revision != again.Revision {
			t.Error("a plan changed when written and read")
		}
		p.Select(map[string]string{"app": "a"}, "openai")
	})
}
