// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"
)

func TestEndpointNetworks(t *testing.T) {
	for cidr, problem := range map[string]string{
		"198.18.0.0/16": "", "203.0.113.0/24": "",
		"198.18.0.1/16": "did you mean 198.18.0.0/16",
		"127.77.0.0/16": "loopback",
		"10.0.0.0/8":    "not an IPv4 network of /16 to /30",
		"2001:db8::/64": "not an IPv4 network",
		"198.18":        "not a network",
	} {
		_, err := parseEndpointNetwork(cidr)
		if (problem == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v, want %q in it", cidr, err, problem)
		}
	}
}

// TestEndpointsAreReachedFromTheHostOnly needs root; the network is for
// documentation (RFC 5737) and not used by sandboxes.
func TestEndpointsAreReachedFromTheHostOnly(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	network := netip.MustParsePrefix("203.0.113.0/28")
	e, err := newEndpoints(network)
	if err != nil && strings.Contains(err.Error(), "needs root") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// when a port of an unconfigured address is opened
	l, err := e.listen(t.Context(), "203.0.113.5", 6443)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprint(c, "hello")
			_ = c.Close()
		}
	}()
	// then the host reaches it, and other addresses refuse connections
	conn, err := net.DialTimeout("tcp", "203.0.113.5:6443", 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	host, _ := linkAddresses(network)
	check(t, "the host's own end", conn.LocalAddr().(*net.TCPAddr).IP.String(), host.String())
	_ = conn.Close()
	if _, err := net.DialTimeout("tcp", "203.0.113.6:6443", 5*time.Second); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody serves it: %v", err)
	}
	// and addresses outside of the network are refused
	if _, err := e.listen(t.Context(), "10.6.0.5", 6443); err == nil {
		t.Error("an address outside of the network was opened")
	}
	// and nothing is left
	_ = l.Close()
	closeEndpoints(t, e)
}

// closeEndpoints waits until the interface has gone, whose name the next test
// needs: the kernel removes a namespace in the background.
func closeEndpoints(t *testing.T, e *endpoints) {
	t.Helper()
	e.close()
	for range 100 {
		if _, err := net.InterfaceByName(fmt.Sprintf("mc%d", os.Getpid())); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("the interface is still there")
}
