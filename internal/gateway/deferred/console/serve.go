// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/store"
	"github.com/headgate-dev/headgate/internal/gateway/deferred/ticket"
)

const (
	socketName = "deferred.sock"
	timeout    = 15 * time.Second
)

// Queue is what the console shows and changes.
type Queue interface {
	List() []deferred.Listed
	Replay(ctx context.Context, id string) error
	Drop(ctx context.Context, id string) error
}

var _ Queue = (*deferred.Queue)(nil)

// Serve serves the socket in dir until ctx ends. A gateway without one works all the same.
func Serve(ctx context.Context, dir string, q Queue, log *slog.Logger) {
	l, err := listen(ctx, filepath.Join(dir, socketName))
	if err != nil {
		log.Warn("the command for deferred calls will not reach this gateway", slog.String("error", err.Error()))
		return
	}
	srv := &http.Server{Handler: handler(q), ReadTimeout: timeout, WriteTimeout: timeout, IdleTimeout: timeout, MaxHeaderBytes: 8 << 10}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	_ = srv.Serve(l)
}

func listen(ctx context.Context, path string) (net.Listener, error) {
	// One that a killed gateway left behind; whoever held the store holds it no more.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func handler(q Queue) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tickets", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(q.List())
	})
	mux.HandleFunc("POST /tickets/{id}/replay", func(w http.ResponseWriter, r *http.Request) { answer(w, r, q.Replay) })
	mux.HandleFunc("DELETE /tickets/{id}", func(w http.ResponseWriter, r *http.Request) { answer(w, r, q.Drop) })
	return mux
}

func answer(w http.ResponseWriter, r *http.Request, do func(context.Context, string) error) {
	id := r.PathValue("id")
	if !ticket.ValidID(id) {
		http.Error(w, "this is not the ID of a deferred call", http.StatusBadRequest)
		return
	}
	err := do(r.Context(), id)
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.Is(err, store.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
	default:
		http.Error(w, fmt.Sprint(err), http.StatusConflict)
	}
}
