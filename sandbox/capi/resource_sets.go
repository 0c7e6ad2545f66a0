// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// resourceSetNote names the ClusterResourceSet that actually installs an addon.
const resourceSetNote = annotationPrefix + "cluster-resource-set"

// applied reports whether an addon's ClusterResourceSet was completely applied to
// its cluster. True for an addon without one.
func (r *addons) applied(ctx context.Context, o *unstructured.Unstructured, cluster *clusterv1.Cluster) (bool, error) {
	name := o.GetAnnotations()[resourceSetNote]
	if name == "" {
		return true, nil
	}
	// The controller names the binding after the cluster.
	binding := &addonsv1.ClusterResourceSetBinding{}
	if err := r.client.Get(ctx, client.ObjectKeyFromObject(cluster), binding); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	for _, b := range binding.Spec.Bindings {
		if b.ClusterResourceSetName == name {
			return allApplied(b.Resources), nil
		}
	}
	return false, nil
}

func allApplied(resources []addonsv1.ResourceBinding) bool {
	for _, b := range resources {
		if b.Applied == nil || !*b.Applied {
			return false
		}
	}
	return len(resources) > 0
}

// ofBinding returns the addons of the cluster with a binding's name.
func (r *addons) ofBinding(ctx context.Context, o client.Object) []ctrl.Request {
	return r.ofCluster(ctx, o)
}
