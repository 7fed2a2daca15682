// Copyright The Headgate Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer answers every question with the addresses that says gives; each connection to it is one in memory.
func nameServer(t *testing.T, says func() []netip.Addr) *net.Resolver {
	t.Helper()
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			for serveName(theirs, says()) == nil { // until the resolver hangs up
			}
		}()
		return ours, nil
	}}
}

// serveName answers one question, framed as over TCP.
func serveName(c net.Conn, addresses []netip.Addr) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	message := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, message); err != nil {
		return err
	}
	var asked dnsmessage.Message
	if err := asked.Unpack(message); err != nil {
		return err
	}
	answer := dnsmessage.Message{Header: dnsmessage.Header{ID: asked.ID, Response: true, RecursionAvailable: true}, Questions: asked.Questions}
	for _, a := range addresses {
		q := asked.Questions[0]
		head := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 0}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			answer.Answers = append(answer.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			answer.Answers = append(answer.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	packed, err := answer.Pack()
	if err != nil {
		return err
	}
	_, err = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
	return err
}

// TestANameThatIsBoundAgainIsRefusedWhenDialled: what a name led to before says nothing of what it leads to now, and one
// good address among bad ones is the only one that is dialled.
func TestANameThatIsBoundAgainIsRefusedWhenDialled(t *testing.T) {
	var calls atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	defer srv.Close()
	here := netip.MustParseAddrPort(srv.Listener.Addr().String())
	var says atomic.Pointer[[]netip.Addr]
	usual := net.DefaultResolver
	net.DefaultResolver = nameServer(t, func() []netip.Addr { return *says.Load() })
	defer func() { net.DefaultResolver = usual }()
	tr, err := NewTransport(Options{Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	tr.DisableKeepAlives = true // each call asks for the name
	call := func(addresses ...string) error {
		var all []netip.Addr
		for _, a := range addresses {
			all = append(all, netip.MustParseAddr(a))
		}
		says.Store(&all)
		req := httptest.NewRequest(http.MethodGet, "http://provider.example.com:"+here.String()[len(here.Addr().String())+1:]+"/", nil)
		req.RequestURI = ""
		resp, err := tr.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := call("127.0.0.1"); err != nil {
		t.Fatalf("the name's first address: %v", err)
	}
	for _, bad := range []string{
		"169.254.169.254", "100.100.100.200", "168.63.129.16", "fe80::1", "fd00:ec2::254", "fd00:ec2::23",
		"::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "0.0.0.0",
	} {
		if err := call(bad); !errors.Is(err, ErrRefusedAddress) || !NothingSent(err) {
			t.Errorf("the name leads to %s: %v", bad, err)
		}
	}
	if err := call("169.254.169.254", "127.0.0.1"); err != nil {
		t.Errorf("a good address behind a bad one: %v", err)
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("%d calls arrived", n)
	}
}
