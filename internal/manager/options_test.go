// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func inPod(name string) string {
	return map[string]string{"POD_NAMESPACE": "headgate-system", "POD_IP": "10.0.0.5", "POD_UID": "0e1b2c3d"}[name]
}

func parse(t *testing.T, args ...string) (*Options, error) {
	t.Helper()
	var o Options
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := o.Complete(inPod); err != nil {
		return &o, err
	}
	return &o, o.Validate()
}

func TestDefaultsComeFromTheDownwardAPI(t *testing.T) {
	o, err := parse(t, "--gateway-image=gateway:1")
	if err != nil {
		t.Fatal(err)
	}
	if o.CoordinatorURL != "https://headgate-coordinator.headgate-system.svc:9443" || o.advertised() != "10.0.0.5:9443" || o.Namespace != "headgate-system" || o.PodUID != "0e1b2c3d" {
		t.Errorf("%+v, advertised %s", o, o.advertised())
	}
}

func TestEachFlagIsChecked(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"good":                 {[]string{"--coordinator-bind-address=[::1]:7443", "--advertise-address=fd00::1", "--log-level=debug", "--openshift=true", "--gateway-image-pull-policy=Never", "--coordinator-url=https://headgate.example:443", "--webhook-port=443", "--metrics-bind-address=0", "--health-probe-bind-address=0"}, ""},
		"namespace":            {[]string{"--namespace=No_Such"}, "--namespace: "},
		"image":                {[]string{"--gateway-image="}, "--gateway-image is required"},
		"pull policy":          {[]string{"--gateway-image-pull-policy=Sometimes"}, "--gateway-image-pull-policy: "},
		"plain coordinator":    {[]string{"--coordinator-url=http://c:1"}, "--coordinator-url is not"},
		"no address":           {[]string{"--advertise-address=somewhere"}, "--advertise-address: "},
		"any address":          {[]string{"--advertise-address=0.0.0.0"}, "--advertise-address: "},
		"a coordinator's user": {[]string{"--coordinator-url=https://u:sesame@c:1"}, "--coordinator-url is not"},
		"a coordinator's word": {[]string{"--coordinator-url=https://c:1?password=sesame"}, "--coordinator-url is not"},
		"no coordinator":       {[]string{"--coordinator-url=sesame:// c"}, "--coordinator-url is not"},
		"no coordinator port":  {[]string{"--coordinator-bind-address=:0"}, "--coordinator-bind-address: "},
		"webhook port":         {[]string{"--webhook-port=70000"}, "--webhook-port: "},
		"openshift":            {[]string{"--openshift=maybe"}, "--openshift: "},
		"level":                {[]string{"--log-level=loud"}, "--log-level: "},
		"a level of libraries": {[]string{"--log-level=debug-4"}, "--log-level: "},
		"deferred store":       {[]string{"--gateway-deferred-store=rediss://$(HEADGATE_NAMESPACE)@redis.platform.svc:6379/2"}, ""},
		"store's scheme":       {[]string{"--gateway-deferred-store=http://redis:6379"}, "--gateway-deferred-store is not"},
		"store's password":     {[]string{"--gateway-deferred-store=redis://u:secret@redis:6379"}, "without a password"},
		"sentinels":            {[]string{"--gateway-deferred-store=redis://a:26379,b:26379"}, "of one server"},
		"store's parameters":   {[]string{"--gateway-deferred-store=redis://a?addr=b:6379"}, "--gateway-deferred-store is not"},
		"store in brackets":    {[]string{"--gateway-deferred-store=redis://]"}, "--gateway-deferred-store is not"},
		"store's port":         {[]string{"--gateway-deferred-store=redis://redis:65536"}, "--gateway-deferred-store is not"},
		"store without host":   {[]string{"--gateway-deferred-store=redis://:6379"}, "--gateway-deferred-store is not"},
		"no CA file":           {[]string{"--provider-ca-file=" + filepath.Join(dir, "none")}, "--provider-ca-file: "},
		"no CA in the file":    {[]string{"--provider-ca-file=" + file("empty", "hello")}, "holds no certificate"},
		"CA":                   {[]string{"--provider-ca-file=" + file("ca", selfSigned(t))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, append([]string{"--gateway-image=gateway:1"}, tc.args...)...)
			switch {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if err != nil && (strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "secret")) {
				t.Errorf("it says the password: %v", err)
			}
		})
	}
}

func TestLevelHolds(t *testing.T) {
	for level, want := range map[string]bool{"debug": true, "info": false} {
		o := Options{LogLevel: level}
		var out bytes.Buffer
		o.Logger(&out).Debug("hello")
		if got := out.Len() > 0; got != want {
			t.Errorf("at %s debug shows: %v", level, got)
		}
	}
}

func selfSigned(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
