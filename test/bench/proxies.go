// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/headgate-dev/headgate/internal/testing/freeport"
)

const (
	idleConns = 2_048
	// keyHeader and contentType are those of every call.
	benchKey = "sk-bench"
)

// reverseProxy is rp: nothing but httputil.ReverseProxy with a large idle pool.
func reverseProxy(args []string) error {
	fs := flag.NewFlagSet(modeProxy, flag.ContinueOnError)
	listen := fs.String("listen", "", "address")
	upstream := fs.String("upstream", "", "URL of the provider")
	ca := fs.String("ca", "", "file with its certificate")
	if err := fs.Parse(args); err != nil {
		return err
	}
	target, err := url.Parse(*upstream)
	if err != nil {
		return err
	}
	trusted, err := trust(*ca)
	if err != nil {
		return err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{
			MaxIdleConns: idleConns, MaxIdleConnsPerHost: idleConns, DisableCompression: true,
			TLSClientConfig: trusted, ForceAttemptHTTP2: trusted != nil,
		},
	}
	server := &http.Server{Addr: *listen, Handler: proxy, ReadHeaderTimeout: 10 * time.Second}
	return server.ListenAndServe()
}

// provider is where calls go: its address, and the file with its certificate where it is reached by TLS and HTTP/2.
type provider struct{ address, ca string }

func (p provider) url() string {
	if p.ca == "" {
		return "http://" + p.address
	}
	return "https://" + p.address
}

// starter starts one kind of proxy in front of upstream.
type starter struct {
	name string
	// required proxies fail the run where they cannot be measured.
	required bool
	start    func(dir string, at provider) (*process, error)
}

// starters are the proxies that can be measured here: rp and the gateway always.
func (o *options) starters() []starter {
	out := []starter{{modeProxy, true, startReverseProxy}, {"gateway", true, o.startGateway}}
	if path, err := exec.LookPath("nginx"); err == nil {
		out = append(out, starter{"nginx", false, func(dir string, at provider) (*process, error) {
			return startConfigured("nginx", path, nginxConfig, dir, at.address, "-c")
		}})
	}
	if path, err := exec.LookPath("haproxy"); err == nil {
		out = append(out, starter{"haproxy", false, func(dir string, at provider) (*process, error) {
			return startConfigured("haproxy", path, haproxyConfig, dir, at.address, "-db", "-f")
		}})
	}
	return out
}

func startReverseProxy(_ string, at provider) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	return start(modeProxy, address, "", self, modeProxy, "--listen", address, "--upstream", at.url(), "--ca", at.ca)
}

const nginxConfig = `worker_processes 1; master_process off; daemon off; pid %[3]s/nginx.pid; error_log stderr error;
events { worker_connections 8192; }
http {
  access_log off; client_max_body_size 100m; client_body_buffer_size 16m; keepalive_requests 1000000;
  client_body_temp_path %[3]s/body; proxy_temp_path %[3]s/proxy; fastcgi_temp_path %[3]s/f; uwsgi_temp_path %[3]s/u; scgi_temp_path %[3]s/s;
  limit_req_zone $http_authorization zone=keys:1m rate=1000000r/s;
  upstream provider { server %[2]s; keepalive 2048; keepalive_requests 1000000; }
  server {
    listen %[1]s;
    location / {
      limit_req zone=keys burst=1000 nodelay;
      proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`

const haproxyConfig = `global
  nbthread 1
  maxconn 6000
defaults
  mode http
  timeout client 10m
  timeout server 10m
  timeout connect 5s
  option http-no-delay
frontend in
  bind %[1]s
  stick-table type string size 1m expire 1m store http_req_rate(60s)
  http-request track-sc0 req.hdr(authorization)
  http-request deny status 429 if { sc_http_req_rate(0) gt 100000000 }
  default_backend provider
backend provider
  http-reuse always
  server provider %[2]s
`

func startConfigured(name, binary, config, dir, upstream string, flags ...string) (*process, error) {
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, name+".conf")
	text := fmt.Sprintf(config, address, upstream, dir)
	if name == "haproxy" {
		text = fmt.Sprintf(config, address, upstream)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return start(name, address, "", binary, append(flags, file)...)
}

// waitListening waits until the process accepts connections.
func (p *process) waitListening() error {
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		conn, err := net.DialTimeout("tcp", p.address, time.Second)
		if err == nil {
			return conn.Close()
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("%s does not listen: %s", p.name, p.stderr.String())
}
