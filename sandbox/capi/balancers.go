// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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

// keepAlive ends connections to servers that have gone without a word.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3}

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

// deduplicate removes floating IPs that another one has replaced: their deletion
// may have been missed.
func (f *forwarding) deduplicate(id string) {
	newer, ok := f.FloatingIPs[id]
	if !ok {
		return
	}
	maps.DeleteFunc(f.FloatingIPs, func(other string, ip floatingIP) bool {
		return other != id && ip.Address == newer.Address
	})
}

// balancers forwards TCP connections like amphorae, in this process. Each load
// balancer listens on its address in its network, and on its floating IP in all
// networks and for the host and the engine.
//
// What to forward is kept in a file: Octavia and Neutron tell only changes.
type balancers struct {
	file    string
	outside map[string]netns.NsHandle // of the host and of the engine
	base    context.Context

	lock      sync.Mutex
	state     forwarding
	segments  map[string]*segment
	addresses map[ownAddress]bool // that load balancers have in their segments
	listening map[socket]*frontend
	floating  netip.Prefix
}

// ownAddress is the address of a load balancer in its network.
type ownAddress struct {
	network string
	address netip.Addr
}

// socket is where a load balancer listens: in a network, or outside.
type socket struct {
	network string // or a key of outside
	address netip.AddrPort
}

// frontend is an open socket.
type frontend struct {
	listener   net.Listener
	balancer   string
	floatingIP string // "" if it has the load balancer's own address
	port       uint16
}

// newBalancers reads the file, if it exists, and opens its sockets.
func newBalancers(ctx context.Context, file string, e *endpoints) (*balancers, error) {
	b := &balancers{file: file, outside: e.spaces(), floating: e.network, base: ctx,
		segments: map[string]*segment{}, addresses: map[ownAddress]bool{}, listening: map[socket]*frontend{},
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
	_ = b.apply("")
	return b, nil
}

// check refuses what could not be forwarded.
func (l balancer) check(*balancers) error {
	if l.Network == "" || !l.Address.IsValid() {
		return badRequest(errors.New("a load balancer needs a network and an address"))
	}
	return nil
}

func (ip floatingIP) check(b *balancers) error {
	if !b.floating.Contains(ip.Address) {
		return badRequest(fmt.Errorf("floating IP %s is not in %s", ip.Address, b.floating))
	}
	return nil
}

// change applies a change of an object, and keeps it.
func (b *balancers) change(id string, f func(*forwarding)) error {
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
	return errors.Join(err, b.apply(id))
}

// segment returns the segment of a network, which is made if necessary.
func (b *balancers) segment(network string) (*segment, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	s, err := b.ensure(network)
	if err == nil {
		_ = b.apply("")
	}
	return s, err
}

func (b *balancers) ensure(network string) (*segment, error) {
	if s, ok := b.segments[network]; ok {
		return s, nil
	}
	s, err := newSegment(network, b.floating)
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
	balanced := map[string]bool{}
	for _, l := range b.state.Balancers {
		balanced[l.Network] = true
	}
	for network, s := range b.segments {
		if balanced[network] || inUse(network) {
			continue
		}
		for at, f := range b.listening {
			if at.network == network {
				_ = f.listener.Close()
				delete(b.listening, at)
			}
		}
		delete(b.segments, network)
		go s.close()
	}
}

// apply opens and closes sockets; the caller holds the lock. It returns what is
// wrong with one object, a load balancer or floating IP, or "" for none; the
// problems of others are theirs, and are only logged.
func (b *balancers) apply(id string) error {
	var failed error
	fail := func(of string, err error) {
		if of == id && id != "" {
			failed = errors.Join(failed, err)
		} else {
			klog.ErrorS(err, "Not forwarded", "id", of)
		}
	}
	own := map[ownAddress]bool{}
	for of, l := range b.state.Balancers {
		at := ownAddress{l.Network, l.Address}
		own[at] = true
		s, err := b.ensure(l.Network)
		if err == nil && !b.addresses[at] {
			err = s.addAddress(single(l.Address))
		}
		if err != nil {
			fail(of, err)
			continue
		}
		b.addresses[at] = true
	}
	wanted := b.wanted()
	for at, f := range b.listening {
		if w, ok := wanted[at]; !ok || w.balancer != f.balancer {
			_ = f.listener.Close()
			delete(b.listening, at)
		}
	}
	for at := range b.addresses {
		if own[at] {
			continue
		}
		delete(b.addresses, at)
		if s, ok := b.segments[at.network]; ok {
			if err := s.removeAddress(single(at.address)); err != nil {
				fail("", err)
			}
		}
	}
	for at, f := range wanted {
		if b.listening[at] != nil {
			continue
		}
		if err := b.open(at, f); err != nil {
			fail(cmp.Or(f.floatingIP, f.balancer), err)
		}
	}
	return failed
}

func single(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// wanted returns the sockets that must be open.
func (b *balancers) wanted() map[socket]frontend {
	found := map[socket]frontend{}
	for id, l := range b.state.Balancers {
		if b.segments[l.Network] == nil {
			continue
		}
		for _, listener := range l.Listeners {
			f := frontend{balancer: id, port: listener.Port}
			found[socket{l.Network, netip.AddrPortFrom(l.Address, listener.Port)}] = f
			for ipID, ip := range b.state.FloatingIPs {
				if ip.Network != l.Network || ip.Fixed != l.Address {
					continue
				}
				f.floatingIP = ipID
				at := netip.AddrPortFrom(ip.Address, listener.Port)
				for place := range b.outside {
					found[socket{place, at}] = f
				}
				for network := range b.segments {
					found[socket{network, at}] = f
				}
			}
		}
	}
	return found
}

func (b *balancers) open(at socket, f frontend) error {
	space, ok := b.outside[at.network]
	if !ok {
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

func (b *balancers) serve(f *frontend) {
	var turn atomic.Uint64
	accept(f.listener, func(conn net.Conn) { b.forward(conn, f, turn.Add(1)) })
}

// accept serves connections, each by itself, until the socket is closed.
func accept(listener net.Listener, serve func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files
			time.Sleep(100 * time.Millisecond)
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetKeepAliveConfig(keepAlive)
		}
		go serve(conn)
	}
}

// forward connects a client to the first member that answers, beginning with a
// different one each time.
func (b *balancers) forward(client net.Conn, f *frontend, turn uint64) {
	defer client.Close()
	s, members := b.members(f)
	if s == nil { // its load balancer has just gone
		return
	}
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
