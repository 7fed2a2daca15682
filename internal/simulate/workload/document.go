// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	goyaml "sigs.k8s.io/yaml/goyaml.v2"
)

// oneDocument finds what JSON cannot say, and its conversion passes over or tells without a path: further documents, and
// numbers that are none.
func oneDocument(content []byte) error {
	decoder := goyaml.NewDecoder(bytes.NewReader(content))
	var first any
	for {
		var document any
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return finite("", first)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		case document == nil:
		case first != nil:
			return fmt.Errorf("%w: it has more than one document: give one", ErrInvalid)
		default:
			first = document
		}
	}
}

// finite finds a number that is none.
func finite(path string, value any) error {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w:\n  %s: must be a number, not %v", ErrInvalid, path, v)
		}
	case []any:
		for i, item := range v {
			if err := finite(fmt.Sprintf("%s[%d]", path, i), item); err != nil {
				return err
			}
		}
	case map[any]any:
		return finiteFields(path, v)
	}
	return nil
}

func finiteFields(path string, fields map[any]any) error {
	names := make([]string, 0, len(fields))
	for name := range fields {
		if text, ok := name.(string); ok {
			names = append(names, text)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		at := cut(name)
		if path != "" {
			at = path + "." + at
		}
		if err := finite(at, fields[name]); err != nil {
			return err
		}
	}
	return nil
}
