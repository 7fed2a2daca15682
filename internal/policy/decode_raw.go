// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// maxRawDepth is far more than the types nest.
	maxRawDepth = 32
	// maxQuantityLength is the marker of every quantity; a decoded one has lost its text.
	maxQuantityLength = 20
	// maxText is more than any field may hold: what is longer is not repeated in an error.
	maxText = 4 << 10
)

// quantityFields are the fields of type Quantity, whose decoder would name no path.
var quantityFields = []string{"amount", "burst", "largestCall", "minInputTokens", "maxBytes"}

// checkRaw holds what the Go types cannot tell afterwards: empty strings, which look absent there and which
// the API server refuses, and the text of quantities. Null is absent to both.
func checkRaw(asJSON []byte, t reflect.Type) error {
	var object struct {
		Spec any `json:"spec"`
	}
	if err := json.Unmarshal(asJSON, &object); err != nil {
		return err
	}
	spec := field.NewPath("spec")
	if object.Spec == nil {
		return field.Required(spec, "state what it asks for")
	}
	if err := rawValue(spec, "spec", object.Spec, maxRawDepth); err != nil {
		return err
	}
	return checkTypes(spec, object.Spec, t)
}

func rawValue(path *field.Path, name string, value any, depth int) error {
	if depth == 0 {
		return field.Invalid(path, name, "is nested too deeply")
	}
	switch v := value.(type) {
	case bool:
		if slices.Contains(quantityFields, name) {
			return field.Invalid(path, v, "must be a whole number such as 400k")
		}
	case string:
		return rawString(path, name, v)
	case float64:
		return rawNumber(path, v)
	case []any:
		var errs []error
		for i, item := range v {
			errs = append(errs, rawValue(path.Index(i), name, item, depth-1))
		}
		return errors.Join(errs...)
	case map[string]any:
		return rawMap(path, v, depth)
	}
	return nil
}

func rawMap(path *field.Path, object map[string]any, depth int) error {
	var errs []error
	for _, key := range sortedKeys(object) {
		// Labels and their values may be empty and may have any name.
		if key == "podSelector" || key == "selector" {
			continue
		}
		errs = append(errs, rawValue(path.Child(key), key, object[key], depth-1))
	}
	return errors.Join(errs...)
}

func rawString(path *field.Path, name, value string) error {
	if value == "" {
		return field.Invalid(path, value, "must not be empty: leave it out")
	}
	if len(value) > maxText {
		return field.TooLongMaxLength(path, value, maxText)
	}
	if !slices.Contains(quantityFields, name) {
		return nil
	}
	if utf8.RuneCountInString(value) > maxQuantityLength {
		return field.TooLongMaxLength(path, value, maxQuantityLength)
	}
	if _, err := resource.ParseQuantity(value); err != nil {
		return field.Invalid(path, value, "must be a whole number such as 400k")
	}
	return nil
}

// rawNumber refuses fractions, since no field has them.
func rawNumber(path *field.Path, value float64) error {
	if value != float64(int64(value)) {
		return field.Invalid(path, value, "must be a whole number")
	}
	return nil
}

func sortedKeys(object map[string]any) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
