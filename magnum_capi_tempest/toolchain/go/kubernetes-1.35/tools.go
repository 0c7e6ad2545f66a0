// SPDX-License-Identifier: Apache-2.0

// Package kubernetes keeps in go.mod what e2e.test is made of: it is the test
// binary of the imported package, and no program that go.mod could name.
package kubernetes

import _ "k8s.io/kubernetes/test/e2e"
