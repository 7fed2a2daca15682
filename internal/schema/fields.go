// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"encoding/json"
	"reflect"
	"strings"
)

// node is as much of an OpenAPI schema as is looked at.
type node struct {
	Properties           map[string]*node `json:"properties"`
	Items                *node            `json:"items"`
	AdditionalProperties *values          `json:"additionalProperties"`
	Open                 bool             `json:"x-kubernetes-preserve-unknown-fields"`
	Kinds                []kind           `json:"x-kubernetes-group-version-kind"`
}

type kind struct{ Group, Version, Kind string }

// values is the schema of a map's values, or whether there may be any.
type values struct{ node *node }

func (v *values) UnmarshalJSON(data []byte) error {
	if s := string(data); s == "true" || s == "false" {
		return nil
	}
	return json.Unmarshal(data, &v.node)
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// missing appends the paths that values of t may have and n drops. Below a missing one nothing more is said.
func missing(out []string, t reflect.Type, n *node, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n == nil:
		return append(out, path)
	case n.Open || t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler):
		return out
	}
	switch t.Kind() { //nolint:exhaustive // all other kinds have no fields
	case reflect.Struct:
		return missingOfStruct(out, t, n, path)
	case reflect.Slice, reflect.Array:
		return missing(out, t.Elem(), n.Items, path+"[]")
	case reflect.Map:
		if n.AdditionalProperties == nil {
			return append(out, path+"[*]")
		}
		if n.AdditionalProperties.node != nil {
			return missing(out, t.Elem(), n.AdditionalProperties.node, path+"[*]")
		}
	}
	return out
}

func missingOfStruct(out []string, t reflect.Type, n *node, path string) []string {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case name == "" && (f.Anonymous || strings.Contains(options, "inline")):
			out = missing(out, f.Type, n, path)
		default:
			out = missing(out, f.Type, n.Properties[name], strings.TrimPrefix(path+"."+name, "."))
		}
	}
	return out
}
