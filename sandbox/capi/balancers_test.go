// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// testForwarding has load balancers in a network for documentation (RFC 5737).
func testForwarding(t *testing.T) (*balancers, *endpoints, string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	e, err := newEndpoints(netip.MustParsePrefix("203.0.113.16/28"))
	if err != nil && strings.Contains(err.Error(), "needs root") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeEndpoints(t, e) })
	file := filepath.Join(t.TempDir(), "forwarding")
	b, err := newBalancers(t.Context(), file, e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.release(func(string) bool { return false }) })
	return b, e, file
}

// restarted ends load balancers and returns those of the next process.
func restarted(t *testing.T, b *balancers, file string, e *endpoints) *balancers {
	t.Helper()
	b.release(func(string) bool { return false })
	for _, f := range b.listening {
		_ = f.listener.Close()
	}
	again, err := newBalancers(t.Context(), file, e)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// testServer is a namespace attached to a network, with a program that says its
// name.
func testServer(t *testing.T, b *balancers, network, name, mac, address string) (netns.NsHandle, io.Closer) {
	t.Helper()
	space, err := newSpace()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = space.Close() })
	c := &containers{networks: b}
	if err := c.connect(space, 0, serverInterface{MAC: mac, Network: network,
		Addresses: []netip.Prefix{netip.MustParsePrefix(address + "/24")}, Gateway: "192.0.2.1", MTU: 1450}); err != nil {
		t.Fatal(err)
	}
	listener, err := listenIn(t.Context(), space, netip.AddrPortFrom(netip.MustParseAddr(address), 6443))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = fmt.Fprint(conn, name)
			_ = conn.Close()
		}
	}()
	return space, listener
}

// said returns what a server says through a socket, as seen in a namespace.
func said(t *testing.T, space netns.NsHandle, address string) string {
	t.Helper()
	s := &segment{space: space}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	conn, err := s.dial(ctx, netip.MustParseAddrPort(address))
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	text, err := io.ReadAll(conn)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// testHost returns the namespace of this process.
func testHost(t *testing.T) netns.NsHandle {
	t.Helper()
	host, err := netns.Get()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	return host
}

func TestLoadBalancersForward(t *testing.T) {
	b, e, file := testForwarding(t)
	host := testHost(t)
	// given two networks with the same addresses
	one, stop := testServer(t, b, "red", "red one", "fa:16:3e:00:00:01", "192.0.2.5")
	testServer(t, b, "red", "red two", "fa:16:3e:00:00:02", "192.0.2.6")
	blue, _ := testServer(t, b, "blue", "blue one", "fa:16:3e:00:00:03", "192.0.2.5")
	member := func(address string) balancerMember {
		return balancerMember{netip.MustParseAddr(address), 6443}
	}
	vip, floating := netip.MustParseAddr("192.0.2.99"), netip.MustParseAddr("203.0.113.20")

	// when one has a load balancer with a floating IP
	if err := b.change("lb", func(f *forwarding) {
		f.Balancers["lb"] = balancer{"red", vip, []balancerListener{{6443, []balancerMember{member("192.0.2.5"), member("192.0.2.6")}}}}
		f.FloatingIPs["fip"] = floatingIP{floating, "red", vip}
	}); err != nil {
		t.Fatal(err)
	}

	// then its members take turns, for the host and in every network
	for where, space := range map[string]netns.NsHandle{"host": host, "red": one, "blue": blue} {
		got := map[string]bool{said(t, space, "203.0.113.20:6443"): true, said(t, space, "203.0.113.20:6443"): true}
		if len(got) != 2 || !got["red one"] || !got["red two"] {
			t.Errorf("%s: got %v", where, got)
		}
	}
	// and its own address is only in its network
	if got := said(t, one, "192.0.2.99:6443"); !strings.HasPrefix(got, "red") {
		t.Errorf("own address: %s", got)
	}
	if got := said(t, blue, "192.0.2.99:6443"); strings.HasPrefix(got, "red") {
		t.Errorf("the other network reaches it: %s", got)
	}
	// and a member that does not answer is passed over
	_ = stop.Close()
	for range 2 {
		check(t, "the other member", said(t, host, "203.0.113.20:6443"), "red two")
	}
	// and a new process forwards the same
	again := restarted(t, b, file, e)
	check(t, "sockets", len(again.listening), 3)

	// when the floating IP and then the load balancer go
	if err := again.change("fip", func(f *forwarding) { delete(f.FloatingIPs, "fip") }); err != nil {
		t.Fatal(err)
	}
	check(t, "sockets without floating IP", len(again.listening), 1)
	if err := again.change("lb", func(f *forwarding) { delete(f.Balancers, "lb") }); err != nil {
		t.Fatal(err)
	}
	again.release(func(string) bool { return false })
	// then nothing is left
	check(t, "sockets", len(again.listening), 0)
	check(t, "segments", len(again.segments), 0)
	if _, err := net.DialTimeout("tcp", "203.0.113.20:6443", time.Second); err == nil {
		t.Error("the floating IP still answers")
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "mode", info.Mode().Perm(), os.FileMode(0o600))
}

func TestTheEngineReachesLoadBalancersAndServices(t *testing.T) {
	b, e, _ := testForwarding(t)
	host := testHost(t)
	// given an engine, a service on loopback, and a server
	engine, err := newSpace()
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if err := within(engine, func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		return netlink.LinkSetUp(lo)
	}); err != nil {
		t.Fatal(err)
	}
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	go accept(service, func(conn net.Conn) {
		_, _ = fmt.Fprint(conn, "service")
		_ = conn.Close()
	})
	testServer(t, b, "red", "red one", "fa:16:3e:00:00:01", "192.0.2.5")

	// when both are opened to the engine, twice, as by the next process
	for range 2 {
		if err := e.reachFromEngine(fmt.Sprintf("/proc/self/fd/%d", engine)); err != nil {
			t.Fatal(err)
		}
	}
	b.outside = e.spaces()
	vip := netip.MustParseAddr("192.0.2.99")
	if err := b.change("lb", func(f *forwarding) {
		f.Balancers["lb"] = balancer{"red", vip, []balancerListener{{6443, []balancerMember{{netip.MustParseAddr("192.0.2.5"), 6443}}}}}
		f.FloatingIPs["fip"] = floatingIP{netip.MustParseAddr("203.0.113.20"), "red", vip}
	}); err != nil {
		t.Fatal(err)
	}
	port := service.Addr().(*net.TCPAddr).Port
	if err := e.offer(t.Context(), "127.0.0.1", []int{port}); err != nil {
		t.Fatal(err)
	}

	// then host and engine reach them
	for where, space := range map[string]netns.NsHandle{"host": host, "engine": engine} {
		check(t, where+": load balancer", said(t, space, "203.0.113.20:6443"), "red one")
		check(t, where+": service", said(t, space, fmt.Sprintf("203.0.113.17:%d", port)), "service")
	}
	if err := b.change("lb", func(f *forwarding) { clear(f.Balancers) }); err != nil {
		t.Fatal(err)
	}
}

func TestAServerIsAttachedAgain(t *testing.T) {
	b, _, _ := testForwarding(t)
	space, _ := testServer(t, b, "red", "one", "fa:16:3e:00:00:01", "192.0.2.5")
	server, err := netlink.NewHandleAt(space)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	first, err := server.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	// when the segment has gone, as with a process that was killed
	b.release(func(string) bool { return false })
	for range 100 {
		if _, err = server.LinkByName("eth0"); err != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err == nil {
		t.Fatal("the interface is still there")
	}
	// then its next interface cannot be told from the first
	if err := (&containers{networks: b}).connect(space, 0, serverInterface{MAC: "fa:16:3e:00:00:01", Network: "red",
		Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.5/24")}, Gateway: "192.0.2.1", MTU: 1450}); err != nil {
		t.Fatal(err)
	}
	second, err := server.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "index", second.Attrs().Index, first.Attrs().Index)
	check(t, "MAC", second.Attrs().HardwareAddr.String(), "fa:16:3e:00:00:01")
	check(t, "MTU", second.Attrs().MTU, 1450)
}

func TestAnAddressStaysWhileItsLoadBalancerDoes(t *testing.T) {
	b, _, _ := testForwarding(t)
	space, _ := testServer(t, b, "red", "one", "fa:16:3e:00:00:01", "192.0.2.5")
	vip := netip.MustParseAddr("192.0.2.99")
	members := []balancerMember{{netip.MustParseAddr("192.0.2.5"), 6443}}
	set := func(listeners ...balancerListener) {
		t.Helper()
		if err := b.change("lb", func(f *forwarding) { f.Balancers["lb"] = balancer{"red", vip, listeners} }); err != nil {
			t.Fatal(err)
		}
	}
	set(balancerListener{80, members}, balancerListener{443, members})
	// when it loses a listener
	set(balancerListener{80, members})
	// then the other one still answers
	check(t, "the other listener", said(t, space, "192.0.2.99:80"), "one")
	// when it has lost all, and then goes
	set()
	check(t, "addresses", len(b.addresses), 1)
	if err := b.change("lb", func(f *forwarding) { delete(f.Balancers, "lb") }); err != nil {
		t.Fatal(err)
	}
	// then its address is free for others
	check(t, "addresses", len(b.addresses), 0)
	own, err := b.segments["red"].link.LinkByName(bridgeName)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := b.segments["red"].link.AddrList(own, netlink.FAMILY_V4)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "addresses of the bridge", len(addresses), 1) // the gateway
}

func TestAnAddressThatCannotBeUsedDoesNotStopOthers(t *testing.T) {
	b, e, file := testForwarding(t)
	_, _ = testServer(t, b, "red", "one", "fa:16:3e:00:00:01", "192.0.2.5")
	at := func(address string) balancer {
		return balancer{"red", netip.MustParseAddr(address), []balancerListener{{80, []balancerMember{{netip.MustParseAddr("192.0.2.5"), 6443}}}}}
	}
	good, other := at("192.0.2.99"), at("192.0.2.98")
	if err := b.change("other", func(f *forwarding) { f.Balancers["other"] = other }); err != nil {
		t.Fatal(err)
	}
	if err := b.change("bad", func(f *forwarding) {
		f.FloatingIPs["bad"] = floatingIP{netip.MustParseAddr("198.51.100.5"), "red", other.Address}
	}); err == nil {
		t.Error("an address that is not local was accepted")
	}
	// when another one changes, then it is forwarded
	if err := b.change("good", func(f *forwarding) { f.Balancers["good"] = good }); err != nil {
		t.Error(err)
	}
	if _, err := b.segment("red"); err != nil {
		t.Error(err)
	}
	// and a new process starts
	again := restarted(t, b, file, e)
	if again.listening[socket{"red", netip.MustParseAddrPort("192.0.2.99:80")}] == nil {
		t.Error("the good one does not listen")
	}
	again.state.Balancers = nil
	again.release(func(string) bool { return false })
}

func TestFloatingIPs(t *testing.T) {
	b, _, _ := testForwarding(t)
	outside := floatingIP{netip.MustParseAddr("198.51.100.5"), "red", netip.MustParseAddr("192.0.2.99")}
	if err := outside.check(b); err == nil || !strings.Contains(err.Error(), "198.51.100.5 is not in 203.0.113.16/28") {
		t.Errorf("got %v", err)
	}
	// one that was deleted unnoticed gives way to the next with its address
	f := forwarding{FloatingIPs: map[string]floatingIP{"old": outside, "new": outside, "other": {}}}
	f.deduplicate("new")
	_, old := f.FloatingIPs["old"]
	check(t, "the old one", old, false)
	check(t, "floating IPs", len(f.FloatingIPs), 2)
}
