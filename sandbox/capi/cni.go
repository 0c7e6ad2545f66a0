// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// cniFolder is where container runtimes look for the network (CNI) of pods.
const cniFolder = "/etc/cni/net.d"

// hasCNI reports whether the nodes of a cluster have a network. If there is a
// CNI addon, its state decides. Otherwise a CNI applied to the cluster itself
// counts, as a ClusterResourceSet does it. A node that was ready before is
// enough: applied objects are lost when this program ends.
func (r *openStackMachines) hasCNI(ctx context.Context, cluster *clusterv1.Cluster) (bool, error) {
	if known, deployed, err := r.addonCNI(ctx, cluster); err != nil || known {
		return deployed, err
	}
	if ready, err := r.anyReady(ctx, cluster); err != nil || ready {
		return ready, err
	}
	return r.workloads.installsCNI(ctx, client.ObjectKeyFromObject(cluster))
}

// addonCNI reports whether a cluster has a CNI addon, and whether it is deployed.
func (r *openStackMachines) addonCNI(ctx context.Context, cluster *clusterv1.Cluster) (known, deployed bool, err error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(listKind(helmRelease))
	if err := r.client.List(ctx, l, client.InNamespace(cluster.Namespace)); err != nil {
		return false, false, err
	}
	for i := range l.Items {
		a := &l.Items[i]
		if isCNI(a) && nested(a, "spec", "clusterName") == cluster.Name {
			known = true
			deployed = deployed || nested(a, "status", "phase") == phaseDeployed
		}
	}
	return known, deployed, nil
}

// anyReady reports whether any machine of a cluster had a network before.
func (r *openStackMachines) anyReady(ctx context.Context, cluster *clusterv1.Cluster) (bool, error) {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(listKind(openStackMachine))
	err := r.client.List(ctx, l, client.InNamespace(cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name})
	return slices.ContainsFunc(l.Items, func(o unstructured.Unstructured) bool {
		return o.GetAnnotations()[annotationPrefix+nodeReadyFrom] != ""
	}), err
}

// isCNI recognizes a CNI addon by the label of capi-helm-charts' cluster-addons.
func isCNI(o *unstructured.Unstructured) bool {
	return strings.HasPrefix(o.GetLabels()["capi.stackhpc.com/component"], "cni-")
}

// installsCNI reports whether a workload cluster has a DaemonSet that writes
// into the node's folder of CNI configurations.
func (w *workloads) installsCNI(ctx context.Context, cluster client.ObjectKey) (bool, error) {
	// A patched object is no longer stored as an appsv1.DaemonSet.
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(listKind(appsv1.SchemeGroupVersion.WithKind("DaemonSet")))
	if err := w.client(cluster).List(ctx, l); err != nil {
		return false, ignoreGone(err)
	}
	for _, d := range l.Items {
		volumes, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "volumes")
		for _, v := range volumes {
			folder, _, _ := unstructured.NestedString(v.(map[string]any), "hostPath", "path")
			if path.Clean(folder) == cniFolder {
				return true, nil
			}
		}
	}
	return false, nil
}
