// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// addresses gives every workload cluster its own loopback address, so that all
// of them can use the usual port.
//
// The authoritative source is spec.controlPlaneEndpoint of the
// OpenStackClusters. This map only covers the time until a new address is
// written there. All existing addresses are read before the first one is
// given; otherwise a cluster created right after a restart could get the
// address of a cluster that has not been reconciled yet.
type addresses struct {
	network netip.Prefix
	reader  client.Reader // not a cache: it must know what was written before the restart

	lock  sync.Mutex
	known bool
	hosts map[string]client.ObjectKey // by address; the key is the OpenStackCluster's
}

func newAddresses(network netip.Prefix, reader client.Reader) *addresses {
	return &addresses{network: network, reader: reader, hosts: map[string]client.ObjectKey{}}
}

// reserve returns the address of a cluster: host if its specification already
// has one, else the one given before, else the lowest free one.
func (a *addresses) reserve(ctx context.Context, cluster client.ObjectKey, host string) (string, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if host != "" {
		if err := checkLoopback("spec.controlPlaneEndpoint.host", host); err != nil {
			return "", err
		}
		a.hosts[host] = cluster
		return host, nil
	}
	if err := a.readExisting(ctx); err != nil {
		return "", err
	}
	for h, c := range a.hosts {
		if c == cluster {
			return h, nil
		}
	}
	for ip := firstHost(a.network); a.network.Contains(ip); ip = ip.Next() {
		if last := ip.As4()[3]; last == 0 || last == 255 {
			continue
		}
		if _, used := a.hosts[ip.String()]; !used {
			a.hosts[ip.String()] = cluster
			return ip.String(), nil
		}
	}
	return "", fmt.Errorf("all addresses of %s are in use", a.network)
}

// readExisting reserves the addresses of all existing clusters, once.
func (a *addresses) readExisting(ctx context.Context) error {
	if a.known {
		return nil
	}
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(listKind(openStackCluster))
	if err := a.reader.List(ctx, l); err != nil {
		return fmt.Errorf("addresses of existing clusters: %w", err)
	}
	for i := range l.Items {
		if h, _, _ := unstructured.NestedString(l.Items[i].Object, "spec", "controlPlaneEndpoint", "host"); h != "" {
			a.hosts[h] = client.ObjectKeyFromObject(&l.Items[i])
		}
	}
	a.known = true
	return nil
}

// release gives the address of a cluster back.
func (a *addresses) release(cluster client.ObjectKey) {
	a.lock.Lock()
	defer a.lock.Unlock()
	for h, c := range a.hosts {
		if c == cluster {
			delete(a.hosts, h)
		}
	}
}

// firstHost is x.y.1.1: the first /24 belongs to other servers of the sandbox.
func firstHost(network netip.Prefix) netip.Addr {
	b := network.Addr().As4()
	b[2]++
	b[3] = 1
	return netip.AddrFrom4(b)
}
