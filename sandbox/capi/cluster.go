// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
)

// openStackClusters reports OpenStackClusters ready, with an address for the
// API server, and creates the empty in-memory cluster behind it.
type openStackClusters struct {
	client    client.Client
	reader    client.Reader // not a cache: the manager's has not all Secrets
	workloads *workloads
	addresses *addresses
}

func (r *openStackClusters) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := newObject(openStackCluster)
	if err := r.client.Get(ctx, req.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := o.DeepCopy()
	owner, owned := ownerName(o, clusterv1.GroupVersion.Group, "Cluster")
	cluster := client.ObjectKey{Namespace: o.GetNamespace(), Name: owner}
	if paused, err := r.paused(ctx, cluster, o); err != nil || paused {
		return ctrl.Result{}, err // the watch of Clusters wakes it
	}
	if owned && (o.GetDeletionTimestamp() != nil || nested(o, "spec", "controlPlaneEndpoint", "host") == "") {
		if err := cloudCredentials(ctx, r.reader, o); err != nil {
			return ctrl.Result{}, err
		}
	}
	if o.GetDeletionTimestamp() != nil {
		// By the name in the owner reference: the Cluster itself may
		// already be gone if its finalizer was removed.
		if owned {
			r.workloads.remove(cluster)
		}
		r.addresses.release(req.NamespacedName)
		controllerutil.RemoveFinalizer(o, openStackFinalizer)
		return ctrl.Result{}, client.IgnoreNotFound(update(ctx, r.client, before, o))
	}
	if !owned {
		return ctrl.Result{}, nil // the Cluster controller sets the owner reference
	}
	controllerutil.AddFinalizer(o, openStackFinalizer)

	host, err := r.addresses.reserve(ctx, req.NamespacedName, nested(o, "spec", "controlPlaneEndpoint", "host"))
	if err != nil {
		set(o, false, "status", "ready")
		setConditions(o, now(), conditionFalse("Ready", "APIServerAddressFailed", "Error", err.Error()))
		if err := update(ctx, r.client, before, o); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{RequeueAfter: 10 * time.Second}, nil // an address may become free
	}
	set(o, map[string]any{"host": host, "port": apiServerPort(o)}, "spec", "controlPlaneEndpoint")
	if err := r.workloads.create(ctx, cluster); err != nil {
		return ctrl.Result{}, err
	}
	setClusterStatus(o)
	return ctrl.Result{}, update(ctx, r.client, before, o)
}

func (r *openStackClusters) paused(ctx context.Context, key client.ObjectKey, o client.Object) (bool, error) {
	cluster := &clusterv1.Cluster{}
	if err := r.client.Get(ctx, key, cluster); err != nil {
		cluster = nil
		if !apierrors.IsNotFound(err) {
			return false, err
		}
	}
	return isPaused(cluster, o), nil
}

// isPaused reports whether CAPO would leave an object alone, even one that is
// being deleted. The cluster is nil if there is none.
func isPaused(cluster *clusterv1.Cluster, o client.Object) bool {
	return annotations.HasPaused(o) || cluster != nil && annotations.IsPaused(cluster, o)
}

// ownerName returns the name of the owner of a kind.
func ownerName(o client.Object, group, kind string) (string, bool) {
	for _, r := range o.GetOwnerReferences() {
		if gv := (&metav1.TypeMeta{APIVersion: r.APIVersion, Kind: r.Kind}).GroupVersionKind(); gv.Group == group && gv.Kind == kind {
			return r.Name, true
		}
	}
	return "", false
}

// apiServerPort returns the port that CAPO would choose: an existing endpoint
// wins over apiServerPort, which wins over 6443.
func apiServerPort(o *unstructured.Unstructured) int64 {
	for _, path := range [][]string{{"spec", "controlPlaneEndpoint", "port"}, {"spec", "apiServerPort"}} {
		if port, ok, _ := unstructured.NestedInt64(o.Object, path...); ok && port != 0 {
			return port
		}
	}
	return 6443
}

// setClusterStatus sets the fields that addons and drivers read: those of Cluster
// API's v1beta1 contract and the networks, with the names of CAPO's types.
func setClusterStatus(o *unstructured.Unstructured) {
	ref := func(kind string) map[string]any {
		id, _ := fakeID(o.GetNamespace(), o.GetName(), kind)
		return map[string]any{"id": id, "name": kind}
	}
	set(o, true, "status", "ready")
	set(o, true, "status", "initialization", "provisioned")
	for field, name := range map[string]string{"network": "network", "externalNetwork": "external", "router": "router"} {
		set(o, ref(name), "status", field)
	}
	set(o, map[string]any{"nova": map[string]any{"controlPlane": true}}, "status", "failureDomains")
	setConditions(o, now(), conditionTrue("Ready"))
}

// create makes the empty in-memory cluster, unless it exists.
func (w *workloads) create(ctx context.Context, cluster client.ObjectKey) error {
	w.manager.AddResourceGroup(cluster.String())
	c := w.client(cluster)
	for _, n := range []string{metav1.NamespaceDefault, metav1.NamespacePublic, metav1.NamespaceSystem} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n, Labels: map[string]string{corev1.LabelMetadataName: n}}}
		if err := ensure(ctx, c, ns); err != nil {
			return err
		}
	}
	return nil
}
