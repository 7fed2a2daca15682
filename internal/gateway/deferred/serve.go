// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package deferred

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
	"github.com/headgate-dev/headgate/internal/gateway/proxy"
)

const (
	pathPrefix = "/_headgate/deferred/"
	// HeaderState tells answers of the gateway about a ticket from the provider's.
	HeaderState = "X-Headgate-Deferred"
)

var (
	errDamagedAnswer = errors.New("the stored answer is not what was stored")
	errNoCallbacks   = errors.New("this gateway delivers no answers")
)

// Notes on what a ticket outlives.
const (
	noteLocal = "The call is made without you. The ticket survives a restart of this pod's gateway, not the deletion of the pod, " +
		"and answers in this pod only. GET the location until it is no 202; DELETE it when you are done, or to cancel."
	noteShared = "The call is made without you. The ticket survives the deletion of the pod, and answers in every pod of this " +
		"namespace whose gateway uses the same store. GET the location until it is no 202; DELETE it when you are done, or to cancel."
)

// description is what a caller is told about a ticket.
type description struct {
	ID        string `json:"id"`
	Location  string `json:"location"`
	State     string `json:"state"`
	Reason    string `json:"reason,omitempty"`
	LastError string `json:"lastError,omitempty"`
	Attempts  int    `json:"attempts"`
	ExpiresAt string `json:"expiresAt"`
	Note      string `json:"note,omitempty"`
}

// describe is a ticket as JSON.
func (q *Queue) describe(t *ticket.Ticket) []byte {
	d := description{
		ID: t.ID, Location: pathPrefix + t.ID, State: string(t.State), Reason: t.Reason, LastError: t.Last,
		Attempts: t.Attempts, ExpiresAt: q.wall(t.Expires).Format(time.RFC3339),
	}
	if t.State == ticket.Waiting {
		d.Note = noteLocal
		if q.opts.Shared {
			d.Note = noteShared
		}
	}
	b, _ := json.Marshal(d) //nolint:errchkjson // strings and numbers
	return append(b, '\n')
}

// promise is what the caller of a call is told that was taken in.
func (q *Queue) promise(t *ticket.Ticket) *proxy.Promise {
	return &proxy.Promise{Location: pathPrefix + t.ID, RetryAfter: q.wait(t), Body: q.describe(t)}
}

// wait is when to ask again about a ticket that waits.
func (q *Queue) wait(t *ticket.Ticket) time.Duration {
	return max(t.NotBefore.Sub(q.now()), time.Second)
}

// ServeHTTP implements proxy.Deferrals.
func (q *Queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, ok := strings.CutPrefix(r.URL.Path, pathPrefix)
	if !ok || !ticket.ValidID(id) {
		problem(w, http.StatusNotFound, "headgate_unknown_ticket", "there is no such deferred call.")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	switch r.Method {
	case http.MethodGet:
		q.serveGet(w, r, id)
	case http.MethodDelete:
		q.serveDelete(w, r, id)
	default:
		w.Header().Set("Allow", "GET, DELETE")
		problem(w, http.StatusMethodNotAllowed, "headgate_method", "a deferred call is fetched with GET and removed with DELETE.")
	}
}

func (q *Queue) serveGet(w http.ResponseWriter, r *http.Request, id string) {
	t, err := q.find(r, id)
	if err != nil {
		q.unfound(w, err)
		return
	}
	w.Header().Set(HeaderState, string(t.State))
	switch t.State {
	case ticket.Waiting:
		w.Header().Set("Retry-After", strconv.FormatInt(int64(math.Ceil(q.wait(t).Seconds())), 10))
		writeJSON(w, http.StatusAccepted, q.describe(t))
	case ticket.Done:
		body, err := q.answer(r.Context(), t)
		if err != nil {
			w.Header().Del(HeaderState)
			q.unfound(w, err)
			return
		}
		for name, values := range t.AnswerHeader {
			w.Header()[name] = values
		}
		if _, ok := t.AnswerHeader["Content-Type"]; !ok {
			w.Header()["Content-Type"] = nil // the server must not guess what the provider did not say
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(t.Status)
		_, _ = w.Write(body)
	case ticket.Dead:
		writeJSON(w, http.StatusGone, q.describe(t))
	}
}

// find returns a ticket of this gateway's, or of another one that shares the store.
func (q *Queue) find(r *http.Request, id string) (*ticket.Ticket, error) {
	q.mu.Lock()
	e := q.entries[id]
	q.mu.Unlock()
	if e != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		return e.Clone(), nil
	}
	if !q.opts.Shared {
		return nil, store.ErrUnknown
	}
	within, cancel := timeout(r.Context())
	defer cancel()
	return q.store.Read(within, id)
}

func (q *Queue) unfound(w http.ResponseWriter, err error) {
	if errors.Is(err, store.ErrUnknown) {
		problem(w, http.StatusNotFound, "headgate_unknown_ticket", "there is no such deferred call.")
		return
	}
	q.opts.Log.Error("a deferred call could not be read", "error", err.Error())
	w.Header().Set("Retry-After", "5")
	problem(w, http.StatusServiceUnavailable, "headgate_store", "the store of deferred calls does not give it out.")
}

func (q *Queue) serveDelete(w http.ResponseWriter, r *http.Request, id string) {
	if err := q.Drop(r.Context(), id); err != nil {
		q.unfound(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func problem(w http.ResponseWriter, status int, code, message string) {
	var doc struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	doc.Error.Type, doc.Error.Message = code, "headgate: "+message
	b, _ := json.Marshal(doc) //nolint:errchkjson // strings
	w.Header().Set("X-Should-Retry", "false")
	writeJSON(w, status, b)
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
