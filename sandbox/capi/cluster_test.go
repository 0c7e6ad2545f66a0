// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func clusterReconciler(t *testing.T, objects ...client.Object) *openStackClusters {
	c := testClient(objects...)
	return &openStackClusters{client: c, reader: c, workloads: testWorkloads(t, c),
		addresses: newAddresses(netip.MustParsePrefix("127.77.0.0/16"), c)}
}

func newCluster(name string) *unstructured.Unstructured {
	o := owned(newObject(openStackCluster), "Cluster", name)
	o.SetName(name)
	return o
}

func reconcileCluster(t *testing.T, r *openStackClusters, name string) {
	t.Helper()
	if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key(name)}); err != nil {
		t.Fatal(err)
	}
}

func TestAClusterGetsAnEndpointAndIsReady(t *testing.T) {
	// given a cluster that asks for a port
	o := newCluster("c")
	set(o, int64(7443), "spec", "apiServerPort")
	r := clusterReconciler(t, o)
	// when it is reconciled, twice
	reconcileCluster(t, r, "c")
	reconcileCluster(t, r, "c")
	// then its endpoint is on loopback, and it is ready
	o = get(t, r.client, openStackCluster, "c")
	check(t, "host", nested(o, "spec", "controlPlaneEndpoint", "host"), "127.77.1.1")
	check(t, "port", apiServerPort(o), int64(7443))
	ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
	check(t, "ready", ready, true)
}

func TestAPausedClusterIsLeftAlone(t *testing.T) {
	// given a cluster that was paused before it had an endpoint
	paused := testCluster("c")
	paused.Spec.Paused = new(bool)
	*paused.Spec.Paused = true
	r := clusterReconciler(t, newCluster("c"), paused)
	reconcileCluster(t, r, "c")
	check(t, "host", nested(get(t, r.client, openStackCluster, "c"), "spec", "controlPlaneEndpoint", "host"), "")
	// when it resumes and is paused again
	*paused.Spec.Paused = false
	if err := r.client.Update(context.Background(), paused); err != nil {
		t.Fatal(err)
	}
	reconcileCluster(t, r, "c")
	*paused.Spec.Paused = true
	if err := r.client.Update(context.Background(), paused); err != nil {
		t.Fatal(err)
	}
	// then its deletion waits
	if err := r.client.Delete(context.Background(), get(t, r.client, openStackCluster, "c")); err != nil {
		t.Fatal(err)
	}
	reconcileCluster(t, r, "c")
	check(t, "finalizers", len(get(t, r.client, openStackCluster, "c").GetFinalizers()), 1)
}

// credentials is the Secret of newCluster's identityRef.
func credentials() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud"},
		Data: map[string][]byte{"clouds.yaml": []byte("{}")}}
}

func TestAClusterNeedsCredentialsEvenToBeDeleted(t *testing.T) {
	// given a cluster without its Secret
	o := newCluster("c")
	set(o, "cloud", "spec", "identityRef", "name")
	r := clusterReconciler(t, o)
	refused := func() {
		t.Helper()
		if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key("c")}); err == nil {
			t.Error("no error")
		}
	}
	refused()
	check(t, "host", nested(get(t, r.client, openStackCluster, "c"), "spec", "controlPlaneEndpoint", "host"), "")
	// when there is one
	if err := r.client.Create(context.Background(), credentials()); err != nil {
		t.Fatal(err)
	}
	reconcileCluster(t, r, "c")
	check(t, "host", nested(get(t, r.client, openStackCluster, "c"), "spec", "controlPlaneEndpoint", "host"), "127.77.1.1")
	// and it is deleted before the cluster
	for _, gone := range []client.Object{credentials(), get(t, r.client, openStackCluster, "c")} {
		if err := r.client.Delete(context.Background(), gone); err != nil {
			t.Fatal(err)
		}
	}
	refused()
	check(t, "finalizers", len(get(t, r.client, openStackCluster, "c").GetFinalizers()), 1)
}

func TestTheUsualPort(t *testing.T) {
	check(t, "port", apiServerPort(newCluster("c")), int64(6443))
}

func TestAnEndpointOutsideLoopbackNeverGetsReady(t *testing.T) {
	o := newCluster("c")
	set(o, map[string]any{"host": "192.0.2.1", "port": int64(6443)}, "spec", "controlPlaneEndpoint")
	r := clusterReconciler(t, o)
	reconcileCluster(t, r, "c")
	ready, _, _ := unstructured.NestedBool(get(t, r.client, openStackCluster, "c").Object, "status", "ready")
	check(t, "ready", ready, false)
}

func TestADeletedClusterGivesItsAddressBack(t *testing.T) {
	r := clusterReconciler(t, newCluster("c"), newCluster("d"))
	reconcileCluster(t, r, "c")
	if err := r.client.Delete(context.Background(), get(t, r.client, openStackCluster, "c")); err != nil {
		t.Fatal(err)
	}
	reconcileCluster(t, r, "c")
	if err := r.client.Get(context.Background(), key("c"), newObject(openStackCluster)); !apierrors.IsNotFound(err) {
		t.Errorf("still there: %v", err)
	}
	reconcileCluster(t, r, "d")
	check(t, "host of the next", nested(get(t, r.client, openStackCluster, "d"), "spec", "controlPlaneEndpoint", "host"), "127.77.1.1")
}
