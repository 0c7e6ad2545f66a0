// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vishvananda/netns"
	"k8s.io/klog/v2"
)

// dialTimeout is the limit for a connection to one member.
const dialTimeout = 3 * time.Second

// balancer is a load balancer of Octavia.
type balancer struct {
	Network   string             `json:"network"`
	Address   netip.Addr         `json:"address"`
	Listeners []balancerListener `json:"listeners"`
}

type balancerListener struct {
	Port    uint16           `json:"port"`
	Members []balancerMember `json:"members"`
}

type balancerMember struct {
	Address netip.Addr `json:"address"`
	Port    uint16     `json:"port"`
}

// floatingIP forwards to a fixed address. Only those of load balancers do so
// here.
type floatingIP struct {
	Address netip.Addr `json:"address"`
	Network string     `json:"network"`
	Fixed   netip.Addr `json:"fixed"`
}

// forwarding is what Octavia and Neutron have asked for.
type forwarding struct {
	Balancers   map[string]balancer   `json:"balancers"`
	FloatingIPs map[string]floatingIP `json:"floatingIPs"`
}

// balancers forwards TCP connections like amphorae, in this process. Each load
// balancer listens on its address in its network, and on its floating IP in all
// networks and for the host.
//
// What to forward is kept in a file: Octavia and Neutron tell only changes.
type balancers struct {
	file     string
	external netns.NsHandle
	base     context.Context

	lock      sync.Mutex
	state     forwarding
	segments  map[string]*segment
	listening map[socket]*frontend
	floating  netip.Prefix
}

// socket is where a load balancer listens: in a network, or for the host.
type socket struct {
	network string // "" for the host
	address netip.AddrPort
}

// frontend is an open socket.
type frontend struct {
	listener net.Listener
	balancer string
	port     uint16
}

// newBalancers reads the file, if it exists, and opens its sockets.
func newBalancers(ctx context.Context, file string, e *endpoints) (*balancers, error) {
	b := &balancers{file: file, external: e.space, floating: e.network, base: ctx,
		segments: map[string]*segment{}, listening: map[socket]*frontend{},
		state: forwarding{Balancers: map[string]balancer{}, FloatingIPs: map[string]floatingIP{}}}
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &b.state)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	b.lock.Lock()
	defer b.lock.Unlock()
	return b, b.apply()
}

// change applies a change of what is forwarded, and keeps it.
func (b *balancers) change(f func(*forwarding)) error {
	b.lock.Lock()
	defer b.lock.Unlock()
	f(&b.state)
	data, err := json.Marshal(b.state)
	if err == nil {
		err = os.WriteFile(b.file+".new", data, 0o600)
	}
	if err == nil {
		err = os.Rename(b.file+".new", b.file)
	}
	return errors.Join(err, b.apply())
}

// segment returns the segment of a network, which is made if necessary.
func (b *balancers) segment(network string) (*segment, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	s, err := b.ensure(network)
	if err != nil {
		return nil, err
	}
	return s, b.apply()
}

func (b *balancers) ensure(network string) (*segment, error) {
	if s, ok := b.segments[network]; ok {
		return s, nil
	}
	s, err := newSegment(b.floating)
	if err != nil {
		return nil, fmt.Errorf("network %s: %w", network, err)
	}
	b.segments[network] = s
	return s, nil
}

// release removes the segments that have no load balancer and no server.
func (b *balancers) release(inUse func(network string) bool) {
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, l := range b.state.Balancers {
		network, others := l.Network, inUse
		inUse = func(n string) bool { return n == network || others(n) }
	}
	for network, s := range b.segments {
		if inUse(network) {
			continue
		}
		for at, f := range b.listening {
			if at.network == network {
				_ = f.listener.Close()
				delete(b.listening, at)
			}
		}
		s.close()
		delete(b.segments, network)
	}
}

// apply opens and closes sockets; the caller holds the lock. An address that
// cannot be used does not prevent the others.
func (b *balancers) apply() error {
	var failed []error
	for _, l := range b.state.Balancers {
		s, err := b.ensure(l.Network)
		if err == nil {
			err = s.addAddress(netip.PrefixFrom(l.Address, l.Address.BitLen()))
		}
		failed = append(failed, err)
	}
	wanted := b.wanted()
	for at, f := range b.listening {
		if w, ok := wanted[at]; !ok || w.balancer != f.balancer {
			_ = f.listener.Close()
			delete(b.listening, at)
			if _, still := wanted[at]; !still && at.network != "" && !b.floating.Contains(at.address.Addr()) {
				failed = append(failed, b.segments[at.network].removeAddress(
					netip.PrefixFrom(at.address.Addr(), at.address.Addr().BitLen())))
			}
		}
	}
	for at, f := range wanted {
		if b.listening[at] == nil {
			failed = append(failed, b.open(at, f))
		}
	}
	return errors.Join(failed...)
}

// wanted returns the sockets that must be open.
func (b *balancers) wanted() map[socket]frontend {
	found := map[socket]frontend{}
	for id, l := range b.state.Balancers {
		for _, listener := range l.Listeners {
			f := frontend{balancer: id, port: listener.Port}
			found[socket{l.Network, netip.AddrPortFrom(l.Address, listener.Port)}] = f
			for _, ip := range b.state.FloatingIPs {
				if ip.Network != l.Network || ip.Fixed != l.Address {
					continue
				}
				at := netip.AddrPortFrom(ip.Address, listener.Port)
				found[socket{"", at}] = f
				for network := range b.segments {
					found[socket{network, at}] = f
				}
			}
		}
	}
	return found
}

func (b *balancers) open(at socket, f frontend) error {
	space := b.external
	if at.network != "" {
		s, ok := b.segments[at.network]
		if !ok {
			return fmt.Errorf("network %s has no segment", at.network)
		}
		space = s.space
	}
	var err error
	if f.listener, err = listenIn(b.base, space, at.address); err != nil {
		return err
	}
	b.listening[at] = &f
	go b.serve(&f)
	return nil
}

// serve accepts connections until its socket is closed.
func (b *balancers) serve(f *frontend) {
	var turn atomic.Uint64
	for {
		conn, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files
			time.Sleep(100 * time.Millisecond)
			continue
		}
		go b.forward(conn, f, turn.Add(1))
	}
}

// forward connects a client to the first member that answers, beginning with a
// different one each time.
func (b *balancers) forward(client net.Conn, f *frontend, turn uint64) {
	defer client.Close()
	s, members := b.members(f)
	for i := range members {
		m := members[(turn+uint64(i))%uint64(len(members))]
		ctx, cancel := context.WithTimeout(b.base, dialTimeout)
		server, err := s.dial(ctx, netip.AddrPortFrom(m.Address, m.Port))
		cancel()
		if err != nil {
			klog.V(2).InfoS("Member does not answer", "balancer", f.balancer, "member", m, "error", err)
			continue
		}
		defer server.Close()
		pipe(client, server)
		return
	}
}

func (b *balancers) members(f *frontend) (*segment, []balancerMember) {
	b.lock.Lock()
	defer b.lock.Unlock()
	l := b.state.Balancers[f.balancer]
	for _, listener := range l.Listeners {
		if listener.Port == f.port {
			return b.segments[l.Network], listener.Members
		}
	}
	return nil, nil
}

// pipe copies in both directions until both have ended.
func pipe(a, b net.Conn) {
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			if tcp, ok := way[0].(*net.TCPConn); ok {
				_ = tcp.CloseWrite()
			}
		})
	}
	both.Wait()
}
