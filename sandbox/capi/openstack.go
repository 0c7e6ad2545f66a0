// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/cluster-api/util"
	capicontrollerutil "sigs.k8s.io/cluster-api/util/controller"
)

// The kinds of Cluster API Provider OpenStack (CAPO). Its CRDs fulfil the
// v1beta1 contract of Cluster API.
var (
	openStackGV              = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1"}
	openStackCluster         = openStackGV.WithKind("OpenStackCluster")
	openStackMachine         = openStackGV.WithKind("OpenStackMachine")
	openStackMachineTemplate = openStackGV.WithKind("OpenStackMachineTemplate")
	openStackServer          = schema.GroupVersionKind{Group: openStackGV.Group, Version: "v1alpha1", Kind: "OpenStackServer"}
)

const openStackFinalizer = "sandbox.magnum-capi.infrastructure.cluster.x-k8s.io"

// openStack adds the stand-in for Cluster API Provider OpenStack.
func (p *providers) openStack(ctx context.Context) {
	inMemory := inmemoryruntime.NewManager(newWorkloadScheme())
	must(inMemory.Start(ctx), "in-memory clusters")
	w, err := newWorkloads(inMemory, p.client)
	must(err, "workload clusters")
	if p.options.machineSocket != "" {
		p.machines(ctx, w)
		return
	}
	log := ctrl.LoggerFrom(ctx)

	c := &openStackClusters{client: p.client, reader: p.mgr.GetAPIReader(), workloads: w,
		addresses: newAddresses(p.options.workloadNetwork, p.mgr.GetAPIReader())}
	must(capicontrollerutil.NewControllerManagedBy(p.mgr, log).Named("openstackcluster").
		For(newObject(openStackCluster)).WithOptions(p.controllerOptions()).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(
			util.ClusterToInfrastructureMapFunc(ctx, openStackCluster, p.client, newObject(openStackCluster)))).
		Complete(ctx, c), "controller OpenStackCluster")

	m := &openStackMachines{client: p.client, reader: p.mgr.GetAPIReader(), workloads: w, behaviours: p.options.behaviours, now: now}
	must(capicontrollerutil.NewControllerManagedBy(p.mgr, log).Named("openstackmachine").
		For(newObject(openStackMachine)).WithOptions(p.controllerOptions()).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(util.MachineToInfrastructureMapFunc(openStackMachine))).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(m.ofCluster)).
		Watches(newObject(helmRelease), handler.EnqueueRequestsFromMapFunc(m.ofCNI)).
		// Written when its resources are applied; named after the cluster.
		Watches(&addonsv1.ClusterResourceSetBinding{}, handler.EnqueueRequestsFromMapFunc(m.ofCluster)).
		Complete(ctx, m), "controller OpenStackMachine")
	_, err = p.mgr.GetCache().GetInformer(ctx, &bootstrapv1.KubeadmConfig{}) // read for node labels
	must(err, "KubeadmConfig informer")
}

// cloudCredentials returns why CAPO could not use a cloud. It reads the Secret
// that the first of the objects names before everything else, even to delete
// (NewClientScopeFromObject in pkg/scope, v0.14.6).
func cloudCredentials(ctx context.Context, reader client.Reader, objects ...*unstructured.Unstructured) error {
	for _, o := range objects {
		name := nested(o, "spec", "identityRef", "name")
		if name == "" {
			continue
		}
		if kind := nested(o, "spec", "identityRef", "type"); kind != "" && kind != "Secret" {
			return nil // of the whole management cluster
		}
		s := &corev1.Secret{}
		if err := reader.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: name}, s); err != nil {
			return fmt.Errorf("OpenStack credentials: %w", err)
		}
		if _, ok := s.Data["clouds.yaml"]; !ok {
			return fmt.Errorf("OpenStack credentials secret %s did not contain key clouds.yaml", name)
		}
		return nil
	}
	return nil
}

func newObject(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u
}

func listKind(gvk schema.GroupVersionKind) schema.GroupVersionKind {
	return gvk.GroupVersion().WithKind(gvk.Kind + "List")
}

// nested returns a string field of an object, "" if it is missing.
func nested(o *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, path...)
	return s
}

func set(o *unstructured.Unstructured, value any, path ...string) {
	_ = unstructured.SetNestedField(o.Object, value, path...) // fails only if a parent is no map
}

// fakeID returns a UUID and a private IP address that only depend on the parts,
// so that they survive a restart.
func fakeID(parts ...string) (id, address string) {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%q", parts)))
	h := fmt.Sprintf("%x", sum)
	return fmt.Sprintf("%s-%s-4%s-a%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:32]),
		fmt.Sprintf("10.6.%d.%d", sum[30], sum[31]%254+1)
}
