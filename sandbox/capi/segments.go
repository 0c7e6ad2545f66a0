// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// bridgeName is the bridge of a segment.
const bridgeName = "br0"

// segment is the layer 2 segment of one Neutron network: a network namespace
// with a bridge, to which the servers' interfaces are attached. Networks of
// different projects may have the same addresses. Nothing is forwarded between
// segments; floating IPs are local addresses in each of them, on which the load
// balancers listen.
//
// The kernel removes the namespace with this process, and with it the
// interfaces of servers that still run.
type segment struct {
	space netns.NsHandle
	link  *netlink.Handle

	dialing sync.RWMutex // held for writing to close it
	closed  bool
}

// newSegment makes the segment of a network, floating IPs being local in it.
func newSegment(network string, floating netip.Prefix) (*segment, error) {
	s := &segment{}
	var err error
	if s.space, err = newSpace(); err != nil {
		return nil, err
	}
	if s.link, err = netlink.NewHandleAt(s.space); err == nil {
		err = s.setUp(network, floating)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *segment) setUp(network string, floating netip.Prefix) error {
	lo, err := s.link.LinkByName("lo")
	if err != nil {
		return err
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name = bridgeName
	// Otherwise it would change with the ports, and servers would send to an
	// old one.
	sum := sha256.Sum256([]byte(network))
	attributes.HardwareAddr = append(net.HardwareAddr{2}, sum[:5]...)
	bridge := &netlink.Bridge{LinkAttrs: attributes}
	return inOrder(
		func() error { return s.link.LinkSetUp(lo) },
		func() error { return s.link.LinkAdd(bridge) },
		func() error { return s.link.LinkSetUp(bridge) },
		func() error { return s.link.RouteAdd(localRoute(lo, floating)) },
	)
}

// addAddress makes an address one of the segment's own, for a gateway or a load
// balancer.
func (s *segment) addAddress(p netip.Prefix) error {
	bridge, err := s.link.LinkByName(bridgeName)
	if err != nil {
		return err
	}
	return s.link.AddrReplace(bridge, &netlink.Addr{IPNet: ipNet(p)})
}

func (s *segment) removeAddress(p netip.Prefix) error {
	bridge, err := s.link.LinkByName(bridgeName)
	if err != nil {
		return err
	}
	err = s.link.AddrDel(bridge, &netlink.Addr{IPNet: ipNet(p)})
	if errors.Is(err, unix.EADDRNOTAVAIL) {
		return nil
	}
	return err
}

// serverInterface is an interface of a server, which has a port of Neutron.
type serverInterface struct {
	MAC       string         `json:"mac"`
	Network   string         `json:"network"`
	Addresses []netip.Prefix `json:"addresses"`
	Gateway   string         `json:"gateway"`
	MTU       int            `json:"mtu"`
}

// addGateway makes the gateway of an interface one of the segment's addresses,
// like a router would.
func (s *segment) addGateway(i serverInterface) error {
	gateway, err := netip.ParseAddr(i.Gateway)
	if err != nil {
		return err
	}
	for _, p := range i.Addresses {
		if p.Masked().Contains(gateway) {
			return s.addAddress(netip.PrefixFrom(gateway, p.Bits()))
		}
	}
	return nil
}

// firstIndex is the index of a server's first interface, far from those of its
// pods. It is the same after every attachment: flannel restores its routes by
// index.
const firstIndex = 1 << 16

// attach connects a server to the segment: a new interface becomes its ethN.
func (s *segment) attach(inside netns.NsHandle, n int, i serverInterface) error {
	mac, err := net.ParseMAC(i.MAC)
	if err != nil {
		return err
	}
	server, err := netlink.NewHandleAt(inside)
	if err != nil {
		return err
	}
	defer server.Close()
	bridge, err := s.link.LinkByName(bridgeName)
	if err != nil {
		return err
	}
	port := "p" + strings.ReplaceAll(i.MAC, ":", "")
	if old, err := s.link.LinkByName(port); err == nil {
		// Of a container that has just ended; it disappears in the background.
		_ = s.link.LinkDel(old)
	}
	name := fmt.Sprintf("eth%d", n)
	if old, err := server.LinkByName(name); err == nil {
		// Of a segment that has just ended.
		_ = server.LinkDel(old)
	}
	attributes := netlink.NewLinkAttrs()
	attributes.Name, attributes.Index, attributes.HardwareAddr = name, firstIndex+n, mac
	if i.MTU > 0 {
		attributes.MTU = i.MTU
	}
	own := &netlink.Veth{LinkAttrs: attributes, PeerName: port, PeerNamespace: netlink.NsFd(s.space)}
	if err := server.LinkAdd(own); err != nil {
		return fmt.Errorf("interface %s: %w", attributes.Name, err)
	}
	peer, err := s.link.LinkByName(port)
	if err != nil {
		return err
	}
	return inOrder(
		func() error { return s.link.LinkSetMaster(peer, bridge) },
		func() error { return s.link.LinkSetUp(peer) },
		func() error { return configure(server, own, i) },
	)
}

// configure gives an interface of a server its addresses and routes.
func configure(server *netlink.Handle, own netlink.Link, i serverInterface) error {
	for _, p := range i.Addresses {
		if err := server.AddrReplace(own, &netlink.Addr{IPNet: ipNet(p)}); err != nil {
			return fmt.Errorf("address %s: %w", p, err)
		}
	}
	if err := server.LinkSetUp(own); err != nil {
		return err
	}
	if i.Gateway == "" {
		return nil
	}
	err := server.RouteAdd(&netlink.Route{LinkIndex: own.Attrs().Index, Gw: net.ParseIP(i.Gateway)})
	if errors.Is(err, unix.EEXIST) { // of an interface before it
		return nil
	}
	return err
}

// dial connects to a server of the segment.
func (s *segment) dial(ctx context.Context, address netip.AddrPort) (conn net.Conn, err error) {
	s.dialing.RLock()
	defer s.dialing.RUnlock()
	if s.closed {
		return nil, net.ErrClosed
	}
	err = within(s.space, func() error {
		var err error
		conn, err = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext(ctx, "tcp", address.String())
		return err
	})
	return conn, err
}

// close waits for connections that are being made.
func (s *segment) close() {
	s.dialing.Lock()
	defer s.dialing.Unlock()
	s.closed = true
	if s.link != nil {
		s.link.Close()
	}
	_ = s.space.Close()
}

// newSpace makes a network namespace, which ends with its handle.
func newSpace() (space netns.NsHandle, err error) {
	err = elsewhere(func() (err error) {
		space, err = netns.New() // and enters it
		return err
	})
	return space, err
}

// within runs f in a network namespace. A socket stays in the namespace in
// which it was created, whichever thread uses it.
func within(space netns.NsHandle, f func() error) error {
	return elsewhere(func() error {
		if err := netns.Set(space); err != nil {
			return err
		}
		return f()
	})
}

// elsewhere runs f, which may enter another network namespace, and then returns
// to that of this process.
func elsewhere(f func() error) error {
	var failed error
	err := onThread(func() error {
		own, err := netns.Get()
		if err != nil {
			return err
		}
		defer own.Close()
		failed = f()
		return netns.Set(own)
	})
	return errors.Join(err, failed)
}

// localRoute makes every address of a network local.
func localRoute(lo netlink.Link, network netip.Prefix) *netlink.Route {
	return &netlink.Route{LinkIndex: lo.Attrs().Index, Dst: ipNet(network),
		Type: unix.RTN_LOCAL, Table: unix.RT_TABLE_LOCAL, Scope: netlink.SCOPE_HOST}
}

// inOrder runs steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// needsRoot explains why a namespace could not be made.
func needsRoot(err error, network netip.Prefix) error {
	if errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EPERM) {
		return fmt.Errorf("a network namespace for %s needs root (CAP_SYS_ADMIN, CAP_NET_ADMIN): %w", network, err)
	}
	return fmt.Errorf("network namespace for %s: %w", network, err)
}
