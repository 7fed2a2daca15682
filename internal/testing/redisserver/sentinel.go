// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

// Primary is the name by which Sentinels know the primary.
const Primary = "primary"

// sentinels is how many watch it.
const sentinels = 3

// Sentinels are a primary, its replica, and three Sentinels that watch them.
type Sentinels struct {
	Primary, Replica *Server
	sentinels        []*Server
}

// StartSentinels returns all of them running, the replica in step, and each Sentinel knowing of it and of the others: those
// who do not when the primary ends would put nothing in its place.
func StartSentinels(t *testing.T) *Sentinels {
	t.Helper()
	s := &Sentinels{Primary: Start(t, "--masterauth", Password)}
	host, port, _ := net.SplitHostPort(s.Primary.Address)
	s.Replica = Start(t, "--masterauth", Password, "--replicaof", host+" "+port)
	// A Sentinel asks the primary for its replicas at once, and then every ten seconds.
	s.Primary.Eventually("the replica is in step", func() bool {
		return strings.Contains(strings.Join(s.Replica.Do("INFO replication"), ""), "master_link_status:up")
	})
	for range sentinels {
		s.sentinels = append(s.sentinels, startSentinel(t, host, port))
	}
	for _, one := range s.sentinels {
		one.Eventually("a Sentinel knows the others", func() bool {
			return one.watches("num-slaves") >= 1 && one.watches("num-other-sentinels") == sentinels-1
		})
	}
	return s
}

// watches is a number that a Sentinel tells of the primary.
func (s *Server) watches(what string) int {
	s.t.Helper()
	told := s.Do("SENTINEL MASTER " + Primary)
	n, err := strconv.Atoi(told[slices.Index(told, what)+1])
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	return n
}

func startSentinel(t *testing.T, host, port string) *Server {
	t.Helper()
	address := freeport.For(t)
	_, own, _ := net.SplitHostPort(address)
	conf := filepath.Join(t.TempDir(), "sentinel.conf")
	text := fmt.Sprintf(`port %s
bind 127.0.0.1
sentinel monitor %s %s %s 2
sentinel auth-pass %s %s
sentinel down-after-milliseconds %s 1000
sentinel failover-timeout %s 5000
`, own, Primary, host, port, Primary, Password, Primary, Primary)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, Address: address, ready: "sentinel id is", open: true, args: []string{conf, "--sentinel"}}
	t.Cleanup(s.Kill)
	s.Run()
	return s
}

// URL names the Sentinels, as a store's URL does.
func (s *Sentinels) URL() string {
	var hosts []string
	for _, one := range s.sentinels {
		hosts = append(hosts, one.Address)
	}
	return "redis://" + strings.Join(hosts, ",") + "?sentinel=" + Primary
}

// Eventually fails unless ok comes true soon.
func (s *Server) Eventually(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	s.t.Fatalf("%s: that did not come", what)
}
