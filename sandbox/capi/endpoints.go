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
	"k8s.io/klog/v2"
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
	engine  netns.NsHandle // 0: the engine's containers reach no endpoint
}

// linkRetry is how long the interfaces of a process that was just killed may
// still exist: the kernel removes a namespace in the background.
const linkRetry = 5 * time.Second

// newEndpoints makes the namespace. It needs CAP_SYS_ADMIN and CAP_NET_ADMIN.
func newEndpoints(network netip.Prefix) (*endpoints, error) {
	e := &endpoints{network: network}
	var err error
	if e.space, err = newSpace(); err == nil {
		err = e.link()
	}
	if err != nil {
		return nil, needsRoot(err, network)
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
	return inOrder(
		func() error { return netlink.AddrAdd(outer, address(hostAddress)) },
		func() error { return netlink.LinkSetUp(outer) },
		func() error { return inside.LinkSetUp(lo) },
		func() error { return inside.AddrAdd(inner, address(insideAddress)) },
		func() error { return inside.LinkSetUp(inner) },
		func() error { return inside.RouteAdd(localRoute(lo, e.network)) },
		func() error { return e.route(outer, insideAddress) },
	)
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
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// listen opens a port on an address of the network.
func (e *endpoints) listen(ctx context.Context, host string, port int32) (net.Listener, error) {
	ip, err := netip.ParseAddr(host)
	if err != nil || !e.network.Contains(ip) {
		return nil, fmt.Errorf("control plane endpoint %s is not in %s: only floating IPs and load balancers of that network can be reached", host, e.network)
	}
	return listenIn(ctx, e.space, netip.AddrPortFrom(ip, uint16(port)))
}

// listenIn opens a port in a network namespace.
func listenIn(ctx context.Context, space netns.NsHandle, address netip.AddrPort) (listener net.Listener, err error) {
	err = within(space, func() error {
		var err error
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", address.String())
		return err
	})
	return listener, err
}

// reachFromEngine opens the endpoints also for the engine's containers: the whole
// network becomes local in the engine's namespace, to which they send what is not
// theirs. Those of an engine in the host's namespace go the host's way. The path
// is that of the engine's namespace.
func (e *endpoints) reachFromEngine(path string) error {
	host, err := netns.GetFromPath("/proc/self/ns/net")
	if err != nil {
		return err
	}
	defer host.Close()
	engine, err := netns.GetFromPath(path)
	if err != nil {
		return err
	}
	if engine.Equal(host) {
		return engine.Close()
	}
	e.engine = engine
	link, err := netlink.NewHandleAt(e.engine)
	if err != nil {
		return err
	}
	defer link.Close()
	lo, err := link.LinkByName("lo")
	if err != nil {
		return err
	}
	return link.RouteReplace(localRoute(lo, e.network)) // an earlier process may have made it
}

// spaces returns the namespaces that have the network.
func (e *endpoints) spaces() map[string]netns.NsHandle {
	found := map[string]netns.NsHandle{"": e.space}
	if e.engine != 0 {
		found["engine"] = e.engine
	}
	return found
}

// offer makes ports of a loopback address reachable at the first address of the
// network, which Neutron gives to no port: it is that of the gateway.
func (e *endpoints) offer(ctx context.Context, loopback string, ports []int) error {
	for _, space := range e.spaces() {
		for _, port := range ports {
			at := netip.AddrPortFrom(e.network.Addr().Next(), uint16(port))
			listener, err := listenIn(ctx, space, at)
			if err != nil {
				return fmt.Errorf("service at %s: %w", at, err)
			}
			context.AfterFunc(ctx, func() { _ = listener.Close() })
			to := net.JoinHostPort(loopback, fmt.Sprint(port))
			go accept(listener, func(conn net.Conn) {
				defer conn.Close()
				server, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", to)
				if err != nil {
					klog.V(2).InfoS("Service does not answer", "address", to, "error", err)
					return
				}
				defer server.Close()
				pipe(conn, server)
			})
		}
	}
	return nil
}

func (e *endpoints) close() {
	for _, space := range e.spaces() {
		_ = space.Close()
	}
}
