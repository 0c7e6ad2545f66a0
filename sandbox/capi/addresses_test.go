// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/netip"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func clusterAt(name, host string) client.Object {
	o := newObject(openStackCluster)
	o.SetNamespace(namespace)
	o.SetName(name)
	if host != "" {
		set(o, map[string]any{"host": host, "port": int64(6443)}, "spec", "controlPlaneEndpoint")
	}
	return o
}

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: name} }

func mustReserve(t *testing.T, a *addresses, name, host string) string {
	t.Helper()
	h, err := a.reserve(context.Background(), key(name), host)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAddressesBeginBehindTheFirstNetwork(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("127.77.0.0/16"), testClient())
	check(t, "first", mustReserve(t, a, "a", ""), "127.77.1.1")
	check(t, "second", mustReserve(t, a, "b", ""), "127.77.1.2")
	check(t, "asked again", mustReserve(t, a, "a", ""), "127.77.1.1")
	a.release(key("a"))
	check(t, "released", mustReserve(t, a, "c", ""), "127.77.1.1")
}

func TestExistingAddressesAreNeverGivenTwice(t *testing.T) {
	// given a fresh process and clusters of an earlier one
	a := newAddresses(netip.MustParsePrefix("127.77.0.0/16"), testClient(
		clusterAt("old1", "127.77.1.1"), clusterAt("old2", "127.77.1.3"), clusterAt("unfinished", "")))
	// when a new cluster comes before any old one is reconciled
	got := mustReserve(t, a, "new", "")
	// then it gets none of their addresses, and they keep them
	check(t, "new", got, "127.77.1.2")
	check(t, "old2", mustReserve(t, a, "old2", "127.77.1.3"), "127.77.1.3")
	check(t, "next", mustReserve(t, a, "next", ""), "127.77.1.4")
}

func TestNetworkAndBroadcastAddressesAreSkipped(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("127.77.0.0/16"), testClient())
	last := ""
	for i := range 256 {
		last = mustReserve(t, a, string(rune('a'+i)), "")
	}
	check(t, "the 256th", last, "127.77.2.2")
}

func TestAFullNetworkIsAnError(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("127.77.0.0/23"), testClient())
	for i := range 254 {
		mustReserve(t, a, string(rune('a'+i)), "")
	}
	if h, err := a.reserve(context.Background(), key("one-too-many"), ""); err == nil {
		t.Errorf("got %s", h)
	}
}

func TestAnEndpointThatOthersCouldReachIsRefused(t *testing.T) {
	a := newAddresses(netip.MustParsePrefix("127.77.0.0/16"), testClient())
	if _, err := a.reserve(context.Background(), key("a"), "192.0.2.1"); err == nil {
		t.Error("accepted")
	}
}
