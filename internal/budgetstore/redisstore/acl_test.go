// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

const userPassword = "secret-of-the-user"

// setUser has servers know a user with the rights that docs/budget-store.md names.
func setUser(password, rights string, servers ...*redisserver.Server) {
	for _, s := range servers {
		s.Do("ACL SETUSER headgate on resetpass >" + password + " ~{headgate:budget:* " + rights)
	}
}

func openAs(t *testing.T, url string, o Options) *Store {
	t.Helper()
	o.URL, o.patience = strings.Replace(url, "://", "://headgate@", 1), patience
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestAUserOfACluster: the rights that the document adds for clusters suffice.
func TestAUserOfACluster(t *testing.T) {
	t.Parallel()
	nodes := redisserver.StartCluster(t)
	setUser(userPassword, LeastRights+" "+ClusterRights, nodes...)
	s := openAs(t, redisserver.ClusterURL(nodes), Options{Password: userPassword})
	for _, account := range []string{"account/a", "account/b", "account/c", "account/d"} {
		newClient(t, s, account, "a").granted(10)
	}
}

// TestAUserBehindSentinels: those of Sentinels are asked with the user's name and password too, and the primary that they
// name is.
func TestAUserBehindSentinels(t *testing.T) {
	t.Parallel()
	servers := redisserver.StartSentinels(t)
	setUser(userPassword, LeastRights, servers.Primary, servers.Replica)
	servers.Admit("headgate", userPassword, strings.Fields(SentinelRights)...)
	wrong := openAs(t, servers.URL(), Options{Password: userPassword})
	if _, err := newClient(t, wrong, "account/a", "a").draw(1); err == nil || strings.Contains(err.Error(), userPassword) {
		t.Errorf("Sentinels that ask for a password answered without one: %v", err)
	}
	newClient(t, openAs(t, servers.URL()+"&sentinelAuth=true", Options{Password: userPassword}), "account/a", "a").granted(10)
}

// TestAPasswordThatIsChanged, as a kubelet changes the file of a Secret: by a link that is put in place of another one. Each
// new connection has the new one; while the server takes both nothing is lost, and when it takes the old one no longer draws
// go on.
func TestAPasswordThatIsChanged(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t)
	setUser(userPassword, LeastRights, server)
	dir := t.TempDir()
	put := func(version, password string) {
		t.Helper()
		next := filepath.Join(dir, "next")
		for _, err := range []error{
			os.Mkdir(filepath.Join(dir, version), 0o700),
			os.WriteFile(filepath.Join(dir, version, "password"), []byte(password+"\n"), 0o600),
			os.Symlink(version, next), os.Rename(next, filepath.Join(dir, "..data")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	put("first", userPassword)
	if err := os.Symlink("..data/password", filepath.Join(dir, "password")); err != nil {
		t.Fatal(err)
	}
	s := openAs(t, server.URL(), Options{PasswordFile: filepath.Join(dir, "password")})
	c := newClient(t, s, "account/a", "a")
	c.granted(10)
	had := c.r.Lines[0].Got
	server.Do("ACL SETUSER headgate >another-secret")
	put("second", "another-secret")
	server.Do("CLIENT KILL TYPE normal")
	c.granted(10)
	server.Do("ACL SETUSER headgate <" + userPassword)
	server.Do("CLIENT KILL TYPE normal")
	c.granted(10)
	if c.r.Lines[0].Got < had+20-1e-6 {
		t.Errorf("%v became %v", had, c.r.Lines[0].Got)
	}
	// A file that is gone for a moment fails draws, and no more.
	if err := os.Remove(filepath.Join(dir, "password")); err != nil {
		t.Fatal(err)
	}
	server.Do("CLIENT KILL TYPE normal")
	failed := false
	for deadline := time.Now().Add(time.Minute); !failed && time.Now().Before(deadline); {
		_, err := c.draw(1)
		failed = err != nil && !strings.Contains(err.Error(), "secret")
	}
	if !failed {
		t.Error("draws went on without a password")
	}
	if err := os.Symlink("..data/password", filepath.Join(dir, "password")); err != nil {
		t.Fatal(err)
	}
	c.granted(10)
}
