// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// endpoints opens the ports of API servers on addresses from Neutron, those of
// floating IPs and load balancers, in one network.
//
// The whole network is local in a network namespace of this process, and the
// host has a route to it through a pair of virtual interfaces. So every program
// of the host can reach an endpoint, but no other machine can: the namespace
// only has a route back to the host's end of the pair. No cleanup is needed: the
// kernel removes namespace, interfaces and route with this process, however it
// ends.
type endpoints struct {
	network netip.Prefix
	space   netns.NsHandle
}

// linkRetry is how long the interfaces of a process that was just killed may
// still exist: the kernel removes a namespace in the background.
const linkRetry = 5 * time.Second

// newEndpoints makes the namespace. It needs CAP_SYS_ADMIN and CAP_NET_ADMIN.
func newEndpoints(network netip.Prefix) (*endpoints, error) {
	e := &endpoints{network: network}
	err := onThread(func() error {
		host, err := netns.Get()
		if err != nil {
			return err
		}
		defer host.Close()
		if e.space, err = netns.New(); err != nil { // and enters it
			return err
		}
		return netns.Set(host)
	})
	if err == nil {
		err = e.link()
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("a network namespace for %s needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN): %w", network, err)
	}
	if err != nil {
		return nil, fmt.Errorf("network namespace for %s: %w", network, err)
	}
	return e, nil
}

// onThread runs f on its own thread, which ends if f fails: then its network
// namespace is unknown.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := f()
		if err == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// linkAddresses returns the addresses of the two ends of the pair, from the
// link-local range and different for every network.
func linkAddresses(network netip.Prefix) (host, inside netip.Addr) {
	b := network.Addr().As4()
	host = netip.AddrFrom4([4]byte{169, 254, b[1], b[2]&^3 + 1})
	return host, host.Next()
}

func (e *endpoints) link() error {
	inside, err := netlink.NewHandleAt(e.space)
	if err != nil {
		return err
	}
	defer inside.Close()
	hostAddress, insideAddress := linkAddresses(e.network)
	name := fmt.Sprintf("mc%d", os.Getpid())
	attributes := netlink.NewLinkAttrs()
	attributes.Name = name
	pair := &netlink.Veth{LinkAttrs: attributes, PeerName: "host", PeerNamespace: netlink.NsFd(e.space)}
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("interface %s: %w", name, err)
	}
	outer, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	inner, err := inside.LinkByName("host")
	if err != nil {
		return err
	}
	lo, err := inside.LinkByName("lo")
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return netlink.AddrAdd(outer, address(hostAddress)) },
		func() error { return netlink.LinkSetUp(outer) },
		func() error { return inside.LinkSetUp(lo) },
		func() error { return inside.AddrAdd(inner, address(insideAddress)) },
		func() error { return inside.LinkSetUp(inner) },
		func() error {
			return inside.RouteAdd(&netlink.Route{LinkIndex: lo.Attrs().Index, Dst: ipNet(e.network),
				Type: unix.RTN_LOCAL, Table: unix.RT_TABLE_LOCAL, Scope: netlink.SCOPE_HOST})
		},
		func() error { return e.route(outer, insideAddress) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// route gives the host a route to the network.
func (e *endpoints) route(outer netlink.Link, via netip.Addr) error {
	r := &netlink.Route{LinkIndex: outer.Attrs().Index, Dst: ipNet(e.network), Gw: via.AsSlice()}
	for deadline := time.Now().Add(linkRetry); ; time.Sleep(50 * time.Millisecond) {
		err := netlink.RouteAdd(r)
		if errors.Is(err, unix.EEXIST) && time.Now().Before(deadline) {
			continue
		}
		if errors.Is(err, unix.EEXIST) {
			return errors.New("the host already has a route to it (ip route), name another network")
		}
		return err
	}
}

func address(a netip.Addr) *netlink.Addr {
	return &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(a, 30))}
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}
}

// listen opens a port on an address of the network. A socket stays in the
// namespace in which it was created, whichever thread uses it.
func (e *endpoints) listen(ctx context.Context, host string, port int32) (net.Listener, error) {
	ip, err := netip.ParseAddr(host)
	if err != nil || !e.network.Contains(ip) {
		return nil, fmt.Errorf("control plane endpoint %s is not in %s: only floating IPs and load balancers of that network can be reached", host, e.network)
	}
	var listener net.Listener
	err = onThread(func() error {
		own, err := netns.Get()
		if err != nil {
			return err
		}
		defer own.Close()
		if err := netns.Set(e.space); err != nil {
			return err
		}
		var failed error
		listener, failed = (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, fmt.Sprint(port)))
		if err := netns.Set(own); err != nil {
			return err
		}
		return failed
	})
	return listener, err
}

func (e *endpoints) close() { _ = e.space.Close() }
