// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ticket

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/headgate-dev/headgate/internal/testing/seed"
)

func sample() *Ticket {
	now := time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	return &Ticket{
		ID: NewID(), Policy: "support", Route: "anthropic", Lane: "bulk", Path: "/v1/messages", Query: "beta=true",
		Header: http.Header{"Content-Type": {"application/json"}}, Callback: "https://app.example.com/done?x=1",
		State: Waiting, Attempts: 2, Created: now, NotBefore: now, Expires: now.Add(time.Hour), MaxAge: time.Hour,
		Request: Describe([]byte("{}")),
	}
}

// TestIDsAreLongAndDiffer: 128 bits, in a form that fits a path.
func TestIDsAreLongAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	// digits are those that came at each place: all of them, or some bits are not drawn.
	var digits [32]map[byte]bool
	for range 1000 {
		id := NewID()
		if len(id) != 32 || !ValidID(id) || seen[id] {
			t.Fatalf("%q", id)
		}
		seen[id] = true
		for at := range digits {
			if digits[at] == nil {
				digits[at] = map[byte]bool{}
			}
			digits[at][id[at]] = true
		}
	}
	for at, all := range digits {
		if len(all) != 16 {
			t.Errorf("digit %d is one of %d in a thousand IDs", at, len(all))
		}
	}
	for _, id := range []string{"", "../../etc/passwd", "ABCDEF00112233445566778899AABBCC", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdefa"} {
		if ValidID(id) {
			t.Errorf("%q is taken for an ID", id)
		}
	}
}

// TestRecordsComeBack as they were written.
func TestRecordsComeBack(t *testing.T) {
	want := sample()
	record, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDamagedRecordsAreRecognised: any byte that is changed, any end that is missing.
func TestDamagedRecordsAreRecognised(t *testing.T) {
	record, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		damaged := bytes.Clone(record)
		if rapid.Bool().Draw(t, "cut") {
			damaged = damaged[:rapid.IntRange(0, len(damaged)-1).Draw(t, "length")]
		} else {
			damaged[rapid.IntRange(0, len(damaged)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		}
		if _, err := Decode(damaged); err == nil {
			t.Fatal("a damaged record was read")
		}
	})
}

// TestRecordsThatNoGatewayWritesAreRefused, whole as they are.
func TestRecordsThatNoGatewayWritesAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*Ticket){
		"state":    func(t *Ticket) { t.State = "Sleeping" },
		"delivery": func(t *Ticket) { t.Delivery = "Lost" },
		"ID":       func(t *Ticket) { t.ID = "x" },
		"path":     func(t *Ticket) { t.Path = "v1" },
		"route":    func(t *Ticket) { t.Route = "" },
		"attempts": func(t *Ticket) { t.Attempts = -1 },
		"status":   func(t *Ticket) { t.State = Done },
	} {
		bad := sample()
		spoil(bad)
		record, err := bad.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(record); err == nil {
			t.Errorf("%s: was read", name)
		}
	}
	huge := sample()
	huge.Query = string(bytes.Repeat([]byte("a"), MaxRecord))
	if _, err := huge.Encode(); err == nil {
		t.Error("a record beyond the bound was written")
	}
}

// FuzzDecode: whatever is in the store, reading it ends, and what is read can be written again.
func FuzzDecode(f *testing.F) {
	record, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record)
	f.Add([]byte{recordVersion, 0, 0, 0, 0})
	f.Add(reseal([]byte(`{"id":"0123456789abcdef0123456789abcdef","route":"a","path":"/","state":"Dead","created":"9999999-01-01T00:00:00Z"}`)))
	f.Fuzz(func(t *testing.T, record []byte) {
		// Random bytes fail at the checksum: what is behind it is read too.
		for _, r := range [][]byte{record, reseal(record)} {
			got, err := Decode(r)
			if err != nil {
				continue
			}
			again, err := got.Encode()
			if err != nil {
				t.Fatalf("%+v cannot be written: %v", got, err)
			}
			if _, err := Decode(again); err != nil {
				t.Fatalf("what was written cannot be read: %v", err)
			}
		}
	})
}

func reseal(doc []byte) []byte {
	sum := checksum(doc)
	return append([]byte{recordVersion, byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, doc...)
}
