// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
)

// bound makes the binding of cluster "c", with one resource of "c-network".
func (a *addonCase) bound(set string, applied *bool) {
	a.t.Helper()
	b := &addonsv1.ClusterResourceSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}}
	b.Spec.Bindings = []addonsv1.ResourceSetBinding{{ClusterResourceSetName: set,
		Resources: []addonsv1.ResourceBinding{{ResourceRef: addonsv1.ResourceRef{Kind: "ConfigMap", Name: "c-network"}, Applied: applied}}}}
	if err := a.client.Create(context.Background(), b); err != nil {
		a.t.Fatal(err)
	}
}

func TestAnAddonOfAResourceSetWaitsForIt(t *testing.T) {
	yes, no := true, false
	note := map[string]string{resourceSetNote: "c-network"}
	for name, c := range map[string]struct {
		set     string
		applied *bool
		want    string
	}{
		"applied":         {set: "c-network", applied: &yes, want: phaseDeployed},
		"not yet applied": {set: "c-network", applied: &no, want: phasePending},
		"not reported":    {set: "c-network", want: phasePending},
		"of another set":  {set: "c-other", applied: &yes, want: phasePending},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAddonCase(t, true, true, nil, note)
			a.bound(c.set, c.applied)
			check(t, "phase", a.phase(), c.want)
		})
	}
}

func TestAnAddonOfAResourceSetWaitsForTheBinding(t *testing.T) {
	a := newAddonCase(t, true, true, nil, map[string]string{resourceSetNote: "c-network"})
	check(t, "phase", a.phase(), phasePending)
}
