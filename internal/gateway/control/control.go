// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/proxy"
	"github.com/headgate-dev/headgate/internal/gateway/upstream"
	"github.com/headgate-dev/headgate/internal/plan"
)

// Options configure a control.
type Options struct {
	Gateway *proxy.Gateway
	// CA is a PEM bundle from a file, trusted beside the plan's.
	CA []byte
	// Trust, if not nil, is told of each bundle that comes into force, for what else connects by it than calls.
	Trust func(bundle []byte) error
	// StateDir keeps the last good plan over restarts of the container; "" keeps none.
	StateDir string
	Log      *slog.Logger
}

// Control applies plans. It is safe for concurrent use.
type Control struct {
	opts Options

	mu        sync.Mutex
	current   *plan.Plan
	bundle    string
	transport *http.Transport
	// failure is why the newest plan is not in force.
	failure         string
	failureRevision int64
}

// New returns a control without a plan; transport is the gateway's own.
func New(opts Options, transport *http.Transport) *Control {
	return &Control{opts: opts, transport: transport, bundle: string(opts.CA)}
}

// ErrStale says that a plan is no newer than the one in force.
var ErrStale = errors.New("a plan of that revision or a newer one is in force")

// ApplyJSON puts an encoded plan in force. An error leaves the last good one.
func (c *Control) ApplyJSON(data []byte, now time.Time) error {
	p, err := plan.Parse(data)
	if err == nil {
		return c.Apply(p, now)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	revision := peek(data)
	if c.current != nil && revision > 0 && revision <= c.current.Revision {
		return ErrStale
	}
	c.failLocked(err, revision)
	return err
}

// peek reads the revision of a plan that cannot be read otherwise, 0 if not even that.
func peek(data []byte) int64 {
	var p struct {
		Revision int64 `json:"revision"`
	}
	if json.Unmarshal(data, &p) != nil {
		return 0
	}
	return max(p.Revision, 0)
}

// Apply puts a plan in force.
func (c *Control) Apply(p *plan.Plan, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && p.Revision <= c.current.Revision {
		if p.Revision == c.current.Revision {
			// What could not be read was replaced by what is in force.
			c.failure, c.failureRevision = "", 0
		}
		return ErrStale
	}
	if err := c.trustLocked(p.ProviderCA); err != nil {
		c.failLocked(err, p.Revision)
		return err
	}
	c.opts.Gateway.Apply(p, now)
	c.current = p
	c.failure, c.failureRevision = "", 0
	c.opts.Log.Info("plan in force", slog.Int64("revision", p.Revision), slog.Int("policies", len(p.Policies)))
	c.keepLocked(p)
	return nil
}

// trustLocked renews the transport where the bundle has changed; mu is held.
func (c *Control) trustLocked(providerCA string) error {
	bundle := string(c.opts.CA) + providerCA
	if bundle == c.bundle {
		return nil
	}
	t, err := upstream.NewTransport(upstream.Options{ExtraCA: []byte(bundle)})
	if err != nil {
		return fmt.Errorf("providerCA: %w", err)
	}
	if c.opts.Trust != nil {
		if err := c.opts.Trust([]byte(bundle)); err != nil {
			return fmt.Errorf("providerCA: %w", err)
		}
	}
	old := c.transport
	c.opts.Gateway.SetTransport(t)
	c.transport, c.bundle = t, bundle
	if old != nil {
		// Calls under way keep their connections; only idle ones are closed.
		old.CloseIdleConnections()
	}
	return nil
}

// failLocked keeps an error. What has no revision that can be read counts as the next one. mu is held.
func (c *Control) failLocked(err error, revision int64) {
	if revision == 0 {
		revision = 1
		if c.current != nil {
			revision += c.current.Revision
		}
	}
	if c.failure == err.Error() && c.failureRevision == revision {
		return
	}
	c.failure, c.failureRevision = err.Error(), revision
	c.opts.Log.Error("plan refused, the last good one stays in force", slog.String("error", err.Error()), slog.Int64("revision", revision))
}

// Fail reports a plan that could not even be made, such as a policy file with an error.
func (c *Control) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err, 0)
}

// Status is the revision in force, and why a newer plan is not.
func (c *Control) Status() (revision int64, failure string, failureRevision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil {
		revision = c.current.Revision
	}
	return revision, c.failure, c.failureRevision
}

// Current is the plan in force, nil before the first.
func (c *Control) Current() *plan.Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

const stateFile = "last-good-plan.json"

// keepLocked writes the plan to the state directory; a failure only costs the copy. mu is held.
func (c *Control) keepLocked(p *plan.Plan) {
	if c.opts.StateDir == "" {
		return
	}
	data, err := plan.Encode(*p)
	if err == nil {
		path := filepath.Join(c.opts.StateDir, stateFile)
		err = errors.Join(os.WriteFile(path+".new", data, 0o600), os.Rename(path+".new", path))
	}
	if err != nil {
		c.opts.Log.Warn("the plan could not be kept", slog.String("error", err.Error()))
	}
}

// Restore puts the plan of the state directory in force, for a start without a usable file.
func (c *Control) Restore(now time.Time) bool {
	if c.opts.StateDir == "" {
		return false
	}
	data, err := os.ReadFile(filepath.Join(c.opts.StateDir, stateFile))
	if err != nil {
		return false
	}
	return c.ApplyJSON(data, now) == nil
}
