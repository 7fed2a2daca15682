// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"net"
	"os/exec"
	"strings"
)

// Admit has the Sentinels answer a user alone, with those rights.
func (s *Sentinels) Admit(name, password string, rights ...string) {
	for _, one := range s.sentinels {
		_, port, _ := net.SplitHostPort(one.Address)
		for _, user := range [][]string{append([]string{name, "on", ">" + password}, rights...), {"default", "off"}} {
			args := append([]string{"-p", port, "ACL", "SETUSER"}, user...)
			if out, err := exec.Command("redis-cli", args...).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "OK" {
				one.t.Fatalf("ACL SETUSER: %s, %v", out, err)
			}
		}
	}
}
