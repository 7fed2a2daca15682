// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
)

// Facts are what a lane may ask of a call.
type Facts struct {
	InputTokens int64
	// Model is empty where the request names none.
	Model string
	// Path is what follows the route, with its slash.
	Path string
	// Header are the values of a request header, by its name in any case.
	Header func(name string) []string
}

// Matches says whether the lane takes a call: all that it states must hold.
func (l *Lane) Matches(call Facts) bool {
	return call.InputTokens >= l.MinInputTokens && l.Header.matches(call.Header) &&
		matchesOne(l.Models, call.Model) && matchesOne(l.Paths, call.Path)
}

func (h *Header) matches(values func(string) []string) bool {
	if h == nil {
		return true
	}
	if values == nil {
		return false
	}
	got := values(h.Name)
	if h.Value == "" {
		return len(got) > 0
	}
	return slices.Contains(got, h.Value)
}

func matchesOne(globs []string, s string) bool {
	return len(globs) == 0 || slices.ContainsFunc(globs, func(glob string) bool { return Glob(glob, s) })
}

// Glob compares s with a glob in which * stands for any run of characters, and nothing else is special.
func Glob(glob, s string) bool {
	first, rest, starred := strings.Cut(glob, "*")
	if !starred {
		return glob == s
	}
	s, found := strings.CutPrefix(s, first)
	for found {
		part, more, goesOn := strings.Cut(rest, "*")
		if !goesOn {
			return strings.HasSuffix(s, part)
		}
		_, s, found = strings.Cut(s, part)
		rest = more
	}
	return false
}

// Covers says that every call that other takes is one that l takes too. It may miss that where globs cover another
// only together.
func (l *Lane) Covers(other *Lane) bool {
	return l.MinInputTokens <= other.MinInputTokens && l.Header.covers(other.Header) &&
		globsCover(l.Models, other.Models) && globsCover(l.Paths, other.Paths)
}

func (h *Header) covers(other *Header) bool {
	if h == nil {
		return true
	}
	return other != nil && strings.EqualFold(h.Name, other.Name) && (h.Value == "" || h.Value == other.Value)
}

// globsCover takes the stars of the narrower globs for ordinary characters, which only a star can match: what matches
// then, matches whatever they stand for.
func globsCover(wide, narrow []string) bool {
	if len(wide) == 0 {
		return true
	}
	return len(narrow) > 0 && !slices.ContainsFunc(narrow, func(glob string) bool { return !matchesOne(wide, glob) })
}
