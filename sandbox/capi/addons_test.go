// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// addonCase is one addon of cluster "c", whose control plane has flavor m1.cp.
type addonCase struct {
	t      *testing.T
	client client.Client
	r      *addons
	clock  time.Time
}

func newAddonCase(t *testing.T, bootstrap, initialized bool, b behaviours, annotations map[string]string) *addonCase {
	t.Helper()
	cluster := testCluster("c")
	cluster.Status.Initialization.ControlPlaneInitialized = &initialized
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{Kind: "KubeadmControlPlane", Name: "c-control-plane"}
	kcp := &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c-control-plane"}}
	kcp.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: openStackMachineTemplate.Kind, Name: "c-cp"}
	template := newObject(openStackMachineTemplate)
	template.SetNamespace(namespace)
	template.SetName("c-cp")
	set(template, "m1.cp", "spec", "template", "spec", "flavor")
	addon := newObject(helmRelease)
	addon.SetNamespace(namespace)
	addon.SetName("c-cni-calico")
	addon.SetAnnotations(annotations)
	set(addon, "c", "spec", "clusterName")
	set(addon, bootstrap, "spec", "bootstrap")
	a := &addonCase{t: t, client: testClient(cluster, kcp, template, addon), clock: instant}
	a.r = &addons{client: a.client, gvk: helmRelease, behaviours: b, now: func() time.Time { return a.clock }}
	return a
}

func (a *addonCase) phase() string {
	a.t.Helper()
	if _, err := a.r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key("c-cni-calico")}); err != nil {
		a.t.Fatal(err)
	}
	return nested(get(a.t, a.client, helmRelease, "c-cni-calico"), "status", "phase")
}

func TestAddonPhases(t *testing.T) {
	for name, c := range map[string]struct {
		bootstrap, initialized bool
		behaviours             behaviours
		annotations            map[string]string
		want                   string
	}{
		"no API server yet":          {bootstrap: true, want: phasePending},
		"bootstrap addon":            {bootstrap: true, initialized: true, want: phaseDeployed},
		"other addon, cluster waits": {initialized: true, want: phasePending},
		"flavor fails addons":        {bootstrap: true, initialized: true, behaviours: behaviours{"m1.cp": {AddonPhase: "Failed"}}, want: phaseFailed},
		"another flavor does":        {bootstrap: true, initialized: true, behaviours: behaviours{"m1.x": {AddonPhase: "Failed"}}, want: phaseDeployed},
		"annotation": {bootstrap: true, initialized: true,
			annotations: map[string]string{annotationPrefix + "addon-phase": "Unknown"}, want: "Unknown"},
		"annotation heals": {bootstrap: true, initialized: true, behaviours: behaviours{"m1.cp": {AddonPhase: "Failed"}},
			annotations: map[string]string{annotationPrefix + "addon-phase": ""}, want: phaseDeployed},
		"delay": {bootstrap: true, initialized: true, behaviours: behaviours{"m1.cp": {AddonDelay: duration(time.Second)}}, want: phaseInstalling},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, "phase", newAddonCase(t, c.bootstrap, c.initialized, c.behaviours, c.annotations).phase(), c.want)
		})
	}
}

func TestAnAddonWaitsForAnAvailableCluster(t *testing.T) {
	a := newAddonCase(t, false, true, nil, nil)
	for _, kind := range []string{clusterv1.ReadyCondition, clusterv1.ClusterAvailableCondition} {
		cluster := &clusterv1.Cluster{}
		if err := a.client.Get(context.Background(), key("c"), cluster); err != nil {
			t.Fatal(err)
		}
		cluster.Status.Deprecated = &clusterv1.ClusterDeprecatedStatus{V1Beta1: &clusterv1.ClusterV1Beta1DeprecatedStatus{
			Conditions: clusterv1.Conditions{{Type: clusterv1.ReadyV1Beta1Condition, Status: "True"}}}}
		cluster.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionTrue, Reason: "x"}}
		if err := a.client.Update(context.Background(), cluster); err != nil {
			t.Fatal(err)
		}
		want := phasePending
		if kind == clusterv1.ClusterAvailableCondition {
			want = phaseDeployed
		}
		check(t, kind, a.phase(), want)
	}
}

func TestAnAddonIsDeployedAfterItsDelay(t *testing.T) {
	a := newAddonCase(t, true, true, behaviours{"m1.cp": {AddonDelay: duration(30 * time.Second)}}, nil)
	check(t, "at once", a.phase(), phaseInstalling)
	a.clock = instant.Add(29 * time.Second)
	check(t, "later", a.phase(), phaseInstalling)
	a.clock = instant.Add(30 * time.Second)
	check(t, "in the end", a.phase(), phaseDeployed)
}

func TestAnAddonStaysDeployedWhenTheClockIsSetBack(t *testing.T) {
	a := newAddonCase(t, true, true, nil, nil)
	check(t, "before", a.phase(), phaseDeployed)
	a.clock = instant.Add(-time.Hour)
	check(t, "after", a.phase(), phaseDeployed)
}

func TestAnAddonBelongsToItsCluster(t *testing.T) {
	a := newAddonCase(t, true, true, nil, nil)
	a.phase()
	o := get(t, a.client, helmRelease, "c-cni-calico")
	check(t, "label", o.GetLabels()[addonClusterLabel], "c")
	check(t, "owners", len(o.GetOwnerReferences()), 1)
	check(t, "owner", string(o.GetOwnerReferences()[0].UID), "c")
}

func TestAnAddonWithoutClusterIsLeftAlone(t *testing.T) {
	a := newAddonCase(t, true, true, nil, nil)
	if err := a.client.Delete(context.Background(), testCluster("c")); err != nil {
		t.Fatal(err)
	}
	check(t, "phase", a.phase(), "")
}

func TestUpdatesOfAClusterThatConcernAddons(t *testing.T) {
	is := true
	for name, c := range map[string]struct {
		change func(*clusterv1.Cluster)
		want   bool
	}{
		"specification": {func(c *clusterv1.Cluster) { c.Generation++ }, true},
		"API server":    {func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = &is }, true},
		"available": {func(c *clusterv1.Cluster) {
			c.Status.Conditions = []metav1.Condition{{Type: clusterv1.ClusterAvailableCondition, Status: metav1.ConditionTrue}}
		}, true},
		"count of Machines": {func(c *clusterv1.Cluster) { c.Status.Workers = &clusterv1.WorkersStatus{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := testCluster("c")
			after := before.DeepCopy()
			c.change(after)
			check(t, "concerns addons", concernsAddons(event.UpdateEvent{ObjectOld: before, ObjectNew: after}), c.want)
		})
	}
}
