// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/headgate-dev/headgate/api/v1alpha1"
)

var (
	specType        = reflect.TypeFor[v1alpha1.RateLimitPolicySpec]()
	accountSpecType = reflect.TypeFor[v1alpha1.ProviderAccountSpec]()
	quantityType    = reflect.TypeFor[resource.Quantity]()
)

// checkTypes compares values with the types they are to be decoded into, since the decoder names a field without the
// index of its list. What the types do not know is the decoder's to refuse.
func checkTypes(path *field.Path, value any, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil || t == quantityType {
		return nil // null is absent, and quantities were looked at before
	}
	switch t.Kind() {
	case reflect.String:
		return is[string](path, value, "must be a string")
	case reflect.Int32, reflect.Int64:
		return is[float64](path, value, "must be a number")
	case reflect.Slice:
		return listTypes(path, value, t)
	case reflect.Map:
		return mapTypes(path, value, t)
	case reflect.Struct:
		return structTypes(path, value, t)
	default:
		return nil
	}
}

func is[T any](path *field.Path, value any, must string) error {
	if _, ok := value.(T); ok {
		return nil
	}
	return field.TypeInvalid(path, called(value), must)
}

// called names a value that may be of any size.
func called(value any) any {
	switch value.(type) {
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case string:
		return "a string"
	}
	return value
}

func listTypes(path *field.Path, value any, t reflect.Type) error {
	list, ok := value.([]any)
	if !ok {
		return field.TypeInvalid(path, called(value), "must be a list")
	}
	var errs []error
	for i, item := range list {
		errs = append(errs, checkTypes(path.Index(i), item, t.Elem()))
	}
	return errors.Join(errs...)
}

func mapTypes(path *field.Path, value any, t reflect.Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return field.TypeInvalid(path, called(value), "must be an object")
	}
	var errs []error
	for _, key := range sortedKeys(object) {
		errs = append(errs, checkTypes(path.Key(key), object[key], t.Elem()))
	}
	return errors.Join(errs...)
}

func structTypes(path *field.Path, value any, t reflect.Type) error {
	object, ok := value.(map[string]any)
	if !ok {
		return field.TypeInvalid(path, called(value), "must be an object")
	}
	var errs []error
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if member, has := object[name]; has && name != "" {
			errs = append(errs, checkTypes(path.Child(name), member, t.Field(i).Type))
		}
	}
	return errors.Join(errs...)
}
