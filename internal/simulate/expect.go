// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/headgate-dev/headgate/internal/simulate/result"
	"github.com/headgate-dev/headgate/internal/simulate/workload"
)

// open are the objects whose members are only there when they are not 0.
var open = map[string]bool{"declined": true, "failed": true, "burned": true, "used": true}

// expectAll compares the result with what is expected of it.
func expectAll(r *result.Result, all []workload.Expectation) error {
	if len(all) == 0 {
		return nil
	}
	plain := *r
	plain.Series = nil
	encoded, err := json.Marshal(&plain)
	if err != nil {
		return err
	}
	var doc map[string]any
	if err := json.Unmarshal(encoded, &doc); err != nil {
		return err
	}
	for _, e := range all {
		got, err := find(doc, e.Path)
		if err != nil {
			return fmt.Errorf("%w:\n  expect[%s]: %w", workload.ErrInvalid, e.Path, err)
		}
		r.Expect = append(r.Expect, result.Expectation{What: e.String(), Got: got, OK: e.Holds(got)})
	}
	return nil
}

// find follows a path. Names may have dots in them: the longest that fits is taken.
func find(doc map[string]any, path string) (float64, error) {
	at, rest, done := doc, path, "the result"
	for {
		name, value := member(at, rest)
		switch v := value.(type) {
		case float64:
			if name == rest {
				return v, nil
			}
			return 0, fmt.Errorf("%s is a number, and has no %s", done+"."+name, rest[len(name)+1:])
		case map[string]any:
			if name == rest {
				return 0, fmt.Errorf("%s is no number: it has %s", name, names(v))
			}
			last := name
			at, rest, done = v, rest[len(name)+1:], strings.TrimPrefix(done+"."+name, "the result.")
			if _, there := member(at, rest); there == nil && open[last] && !strings.Contains(rest, ".") {
				return 0, nil
			}
		default:
			return 0, fmt.Errorf("%s has no %q: it has %s", done, rest, names(at))
		}
	}
}

// member is the member of the longest name that path begins with.
func member(at map[string]any, path string) (name string, value any) {
	for candidate, v := range at {
		if (path == candidate || strings.HasPrefix(path, candidate+".")) && len(candidate) > len(name) {
			name, value = candidate, v
		}
	}
	return name, value
}

func names(m map[string]any) string {
	if len(m) == 0 {
		return "nothing"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
