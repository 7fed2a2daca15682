// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/plan"
)

// TestOthersLearnWhatIsTrusted once for each bundle, the file's before the plan's; a plan whose bundle they refuse is not
// in force.
func TestOthersLearnWhatIsTrusted(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}))
	_, g := newControl(t, "")
	var told []string
	var refusal error
	c := New(Options{Gateway: g, CA: []byte("# of the file\n"), Log: slog.New(slog.DiscardHandler), Trust: func(b []byte) error {
		if refusal == nil {
			told = append(told, string(b))
		}
		return refusal
	}}, nil)
	apply := func(revision int64, bundle string) error {
		p, err := plan.Parse(encoded(t, revision, "a"))
		if err != nil {
			t.Fatal(err)
		}
		p.ProviderCA = bundle
		return c.Apply(p, time.Now())
	}
	for revision, bundle := range []string{"", ca, ca, ca + ca} {
		if err := apply(int64(revision+1), bundle); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"# of the file\n" + ca, "# of the file\n" + ca + ca}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	refusal = errors.New("refused")
	if err := apply(5, ca); !errors.Is(err, refusal) || c.Current().Revision != 4 {
		t.Errorf("%v, revision %d is in force", err, c.Current().Revision)
	}
}
