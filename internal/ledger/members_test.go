// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"reflect"
	"strings"
	"testing"
)

// membersOf lists the members of a type's JSON, with those of what it holds.
func membersOf(t reflect.Type, under string) []string {
	var out []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		out = append(out, under+name)
		held := field.Type
		for held.Kind() == reflect.Slice {
			held = held.Elem()
		}
		if held.Kind() == reflect.Struct {
			out = append(out, membersOf(held, under+name+".")...)
		}
	}
	return out
}

// A release that does not know a member finds another sum, and takes the state for damaged, which leaders may write over: with
// each change of the members the version must change too, which it respects.
func TestMembersOfAStateBelongToItsVersion(t *testing.T) {
	members := map[int]string{
		1: "version origin epoch sequence usual final pools pools.account pools.namespace pools.policy pools.provider pools.digest " +
			"pools.budgets pools.budgets.name pools.budgets.debt pools.budgets.outstanding pools.budgets.level pools.heirs pools.named sum",
	}
	if got := strings.Join(membersOf(reflect.TypeFor[State](), ""), " "); got != members[StateVersion] {
		t.Errorf("a state has the members\n%s\nversion %d those of\n%s", got, StateVersion, members[StateVersion])
	}
}
