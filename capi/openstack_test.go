// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

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
