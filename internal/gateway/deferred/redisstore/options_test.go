// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package redisstore

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/headgate-dev/headgate/internal/gateway/deferred/storetest"
	"github.com/headgate-dev/headgate/internal/testing/redisserver"
)

// TestURLsThatAreRefused, each with what is wrong, and never with the password in it.
func TestURLsThatAreRefused(t *testing.T) {
	for url, want := range map[string]error{
		"redis://store":                                    nil,
		"redis://store:6380/3":                             nil,
		"rediss://user@store.example.com:6379":             nil,
		"redis://user:c4n4ryKey-secret-of-the-store@store": nil,
		"redis://[::1]:6379":                               nil,
		"":                                                 errURL,
		"redis://]":                                        errURL,
		"redis://]:":                                       errURL,
		"redis://a:0":                                      errURL,
		"redis://a:65536":                                  errURL,
		"redis://a\"b":                                     errURL,
		"store:6379":                                       errURL,
		"http://c4n4ryKey-secret-of-the-store@example.com": errURL,
		"unix:///c4n4ryKey-secret-of-the-store":            errURL,
		"redis://:6379":                                    errURL,
		"redis://a:b:c4n4ryKey-secret-of-the-store@[":      errURL,
		"redis:c4n4ryKey-secret-of-the-store":              errURL,
		"redis://store?db=1":                               errQuery,
		"redis://store?":                                   errQuery,
		"rediss://store?skip_verify=true":                  errQuery,
		"redis://store:1?addr=store:2":                     errSeveral,
		"redis://store:1,store:2":                          errSeveral,
		"redis://store,other":                              errSeveral,
		"redis://sentinel:26379?master_name=master":        errSeveral,
	} {
		err := CheckURL(url)
		fmt.Fprintln(failed, err)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", url, err)
		}
		if _, err := options(Options{URL: url}); (err == nil) != (want == nil) || err != nil && strings.Contains(err.Error(), redisserver.Password) {
			t.Errorf("%s: options: %v", url, err)
		}
	}
	if _, err := options(Options{URL: "redis://store/c4n4ryKey-secret-of-the-store"}); !errors.Is(err, errURL) {
		t.Errorf("a database that is no number: %v", err)
	}
}

// TestWhatIsWrongWithAServerIsSaid without the password: one that is not there, one that wants another password, none at
// all, a file that is not there, and a node of a cluster.
func TestWhatIsWrongWithAServerIsSaid(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, node := redisserver.Start(t), redisserver.Start(t, "--cluster-enabled", "yes")
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		url, file, want string
	}{
		"not there":        {"redis://user:c4n4ryKey-secret-of-the-store@127.0.0.1:1", "", "connection refused"},
		"another password": {server.URL(), file("sesame"), "WRONGPASS"},
		"no password":      {server.URL(), file(""), "NOAUTH"},
		"no file":          {server.URL(), filepath.Join(t.TempDir(), "none"), "no such file"},
		"a large file":     {server.URL(), file(strings.Repeat("x", maxPassword+1)), "has 4097 bytes"},
		"a cluster":        {node.URL(), file(redisserver.Password), "which is not supported"},
	} {
		s, err := Open(ctx, Options{URL: c.url, PasswordFile: c.file, Namespace: "x"})
		if err == nil {
			_ = s.Close()
		}
		fmt.Fprintln(failed, err)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), redisserver.Password) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheDatabaseAndANewPasswordAreHeeded: the database is the URL's, and a password that was changed is read for the
// next connection.
func TestTheDatabaseAndANewPasswordAreHeeded(t *testing.T) {
	server := redisserver.Start(t)
	s := open(t, server.URL()+"/3", "team-support")
	k := storetest.Ticket(time.Now(), []byte("body"))
	if err := s.Create(t.Context(), k, []byte("body")); err != nil {
		t.Fatal(err)
	}
	if info := server.Do("INFO keyspace"); len(info) != 1 || !strings.Contains(info[0], "db3:") || strings.Contains(info[0], "db0:") {
		t.Errorf("%q", info)
	}
	path := server.PasswordFile()
	changing, err := Open(t.Context(), Options{URL: server.URL() + "/3", PasswordFile: path, Namespace: "team-support"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = changing.Close() }()
	server.Do("ACL SETUSER default resetpass >another")
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Connections that were made before stay, so the server ends them.
	if err := changing.client.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	for range poolSize + 1 {
		if _, err = changing.Read(t.Context(), k.ID); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("after the password was changed: %v", err)
	}
}

// TestTLS: the server's certificate is checked, by the bundle given beside the system's.
func TestTLS(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	srv.Close()
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, text := range map[string][]byte{certFile: ca, keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := redisserver.StartTLS(t, certFile, keyFile)
	o := Options{URL: "rediss://" + server.Address, PasswordFile: server.PasswordFile(), Namespace: "x"}
	if s, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody vouches for: %v, %v", s, err)
	}
	o.ExtraCA = ca
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	k := storetest.Ticket(time.Now(), []byte("body"))
	if err := s.Create(t.Context(), k, []byte("body")); err != nil {
		t.Error(err)
	}
}
