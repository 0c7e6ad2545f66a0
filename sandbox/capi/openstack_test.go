// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"regexp"
	"testing"
)

func TestFakeIDs(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, parts := range [][]string{{}, {""}, {"a", "b"}, {"ab"}, {"a b"}, {"a", "", "b"}} {
		id, address := fakeID(parts...)
		again, _ := fakeID(parts...)
		check(t, "the same again", again, id)
		check(t, id+" is a UUID", uuid.MatchString(id), true)
		if a, err := netip.ParseAddr(address); err != nil || !a.IsPrivate() {
			t.Errorf("address %s: %v", address, err)
		}
		check(t, id+" seen", seen[id], false)
		seen[id] = true
	}
}
