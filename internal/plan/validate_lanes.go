// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of a lane.
const (
	MaxPaths       = 16
	MaxGlobBytes   = 1024
	MaxPriority    = 1000
	MaxWeight      = 100
	maxHeaderBytes = 256
	maxKeyBytes    = 63
)

func (r *Route) validateLanes() error {
	if len(r.Lanes) < 1 || len(r.Lanes) > MaxLanes {
		return fmt.Errorf("%d lanes are not between 1 and %d", len(r.Lanes), MaxLanes)
	}
	names := map[string]bool{}
	permille := int32(0)
	for i, lane := range r.Lanes {
		if err := unique(names, lane.Name); err != nil {
			return fmt.Errorf("lanes[%d]: %w", i, err)
		}
		if err := lane.validate(); err != nil {
			return fmt.Errorf("lane %s: %w", lane.Name, err)
		}
		permille += lane.SharePermille
	}
	if permille > wholePermille {
		return fmt.Errorf("the lanes' shares add up to %d of %d", permille, wholePermille)
	}
	if last := &r.Lanes[len(r.Lanes)-1]; last.Name != DefaultLane || !last.Covers(&Lane{}) {
		return errors.New("the last lane is not default, or does not match every call")
	}
	return nil
}

func (l Lane) validate() error {
	switch {
	case l.MinInputTokens < 0 || l.MinInputTokens > MaxAmount:
		return fmt.Errorf("minInputTokens %d is out of bounds", l.MinInputTokens)
	case l.LargestCallTokens < 0 || l.LargestCallTokens > MaxAmount:
		return fmt.Errorf("largestCallTokens %d is out of bounds", l.LargestCallTokens)
	case l.SharePermille < 0 || l.SharePermille > wholePermille:
		return fmt.Errorf("share of %d is not between 0 and %d", l.SharePermille, wholePermille)
	case l.Priority < -MaxPriority || l.Priority > MaxPriority:
		return fmt.Errorf("priority %d is not between -%d and %d", l.Priority, MaxPriority, MaxPriority)
	case l.Weight < 0 || l.Weight > MaxWeight:
		return fmt.Errorf("weight %d is not between 0 and %d", l.Weight, MaxWeight)
	case l.HoldMillis != nil && (*l.HoldMillis < 0 || *l.HoldMillis > maxMillis):
		return fmt.Errorf("hold of %dms is out of bounds", *l.HoldMillis)
	case !validKey(l.CredentialKey):
		return errors.New("credentialKey is not a key's name")
	}
	return errors.Join(l.validateQueue(), l.Header.validate(), validGlobs("models", l.Models, MaxModels),
		validGlobs("paths", l.Paths, MaxPaths))
}

func (l Lane) validateQueue() error {
	switch {
	case l.MaxDepth < 0 || l.MaxDepth > maxDepth:
		return fmt.Errorf("depth of %d is not between 0 and %d", l.MaxDepth, maxDepth)
	case l.MaxBytes < 0 || l.MaxBytes > MaxAmount:
		return fmt.Errorf("bytes of %d are not between 0 and %d", l.MaxBytes, int64(MaxAmount))
	case l.MaxWaitMillis < 0 || l.MaxWaitMillis > maxMillis:
		return fmt.Errorf("wait of %dms is out of bounds", l.MaxWaitMillis)
	}
	return nil
}

func (h *Header) validate() error {
	switch {
	case h == nil:
		return nil
	case !isToken(h.Name) || len(h.Name) > maxHeaderBytes:
		return errors.New("header: the name is none")
	case len(h.Value) > maxHeaderBytes || strings.ContainsFunc(h.Value, func(r rune) bool { return r < ' ' || r > '~' }):
		return errors.New("header: the value is too long, or is not of printable ASCII")
	}
	return nil
}

// isToken says whether s may be a header's name (RFC 9110, 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func validGlobs(field string, globs []string, most int) error {
	if len(globs) > most {
		return fmt.Errorf("%d %s exceed %d", len(globs), field, most)
	}
	for _, glob := range globs {
		if glob == "" || len(glob) > MaxGlobBytes {
			return fmt.Errorf("%s hold an empty or overlong glob", field)
		}
	}
	return nil
}

// validKey says whether a key's name is empty or may be that of a file.
func validKey(key string) bool {
	return len(key) <= maxKeyBytes && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
}
