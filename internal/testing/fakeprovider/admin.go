// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeprovider

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	adminPrefix = "/_fake/"
	// maxAdminBody bounds a script.
	maxAdminBody = 4 << 20
)

// newAdmin serves what is below /_fake/.
func newAdmin(s *Server) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_fake/healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.HandleFunc("GET /_fake/stats", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Stats()) })
	mux.HandleFunc("GET /_fake/arrivals", s.adminArrivals)
	mux.HandleFunc("POST /_fake/reset", func(w http.ResponseWriter, _ *http.Request) {
		s.Reset()
		reply(w, s.Stats())
	})
	mux.HandleFunc("POST /_fake/level", s.adminLevel)
	mux.HandleFunc("POST /_fake/skew", s.adminSkew)
	mux.HandleFunc("POST /_fake/faults", s.adminFaults)
	mux.HandleFunc("DELETE /_fake/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}

func reply(w http.ResponseWriter, doc any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(mustMarshal(doc), '\n')) // the caller may have left
}

// adminArrivals: ?since=SEQ leaves out what the caller has seen.
func (s *Server) adminArrivals(w http.ResponseWriter, r *http.Request) {
	since, _ := strconv.ParseUint(r.URL.Query().Get("since"), 10, 64) // absent or malformed: all
	all := s.Arrivals()
	kept := all[:0]
	for _, a := range all {
		if a.Seq > since {
			kept = append(kept, a)
		}
	}
	reply(w, kept)
}

// adminLevel: {"budget": "InputTokens", "percent": 0}; all budgets if none is named.
func (s *Server) adminLevel(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Budget  Budget  `json:"budget"`
		Percent float64 `json:"percent"`
	}
	if readScript(w, r, &body) {
		s.SetLevel(body.Budget, body.Percent)
		reply(w, s.Stats())
	}
}

// adminSkew: {"duration": "-4s"}.
func (s *Server) adminSkew(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Duration string `json:"duration"`
	}
	if !readScript(w, r, &body) {
		return
	}
	d, err := time.ParseDuration(body.Duration)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.SetSkew(d)
	w.WriteHeader(http.StatusNoContent)
}

// adminFaults: one fault, or a list of them.
func (s *Server) adminFaults(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if !readScript(w, r, &raw) {
		return
	}
	faults, err := ParseFaults(raw)
	if err == nil {
		err = s.Inject(faults...)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// ParseFaults reads one fault, or a list of them, from JSON; unknown fields are refused.
func ParseFaults(raw []byte) ([]Fault, error) {
	var list []Fault
	errList := strictly(raw, &list)
	if errList == nil {
		return list, nil
	}
	var one Fault
	if errOne := strictly(raw, &one); errOne != nil {
		return nil, fmt.Errorf("fakeprovider: faults: %w", errors.Join(errOne, errList))
	}
	return []Fault{one}, nil
}

func readScript(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAdminBody))
	if err == nil {
		err = strictly(body, into)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}
