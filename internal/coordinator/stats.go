// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package coordinator

import "strings"

// stats are the coordinator's own counts; the server's mu guards them.
type stats struct {
	reports uint64
	foreign uint64 // routes reported that the namespace's plan does not have
	// versions of gateways seen, bounded.
	versions map[string]bool
}

// maxVersions bounds the label version; more are "other".
const maxVersions = 8

const otherVersion = "other"

func newStats() stats { return stats{versions: map[string]bool{}} }

// version returns the label for a gateway's version, which is its own word.
func (s *stats) version(v string) string {
	if v == "" || strings.ContainsFunc(v, func(r rune) bool {
		return r > 'z' || !strings.ContainsRune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_+", r)
	}) {
		return otherVersion
	}
	if !s.versions[v] && len(s.versions) >= maxVersions {
		return otherVersion
	}
	s.versions[v] = true
	return v
}
