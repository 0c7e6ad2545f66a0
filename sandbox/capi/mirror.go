// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	capicontrollerutil "sigs.k8s.io/cluster-api/util/controller"
)

// mirrorNote marks an OpenStackCluster that represents the DevCluster of the
// same name.
const mirrorNote = annotationPrefix + "mirror"

// mirrors copies the readiness of a DevCluster into an OpenStackCluster of the
// same name that is marked with mirrorNote.
//
// Drivers only know OpenStack: magnum-capi-helm 1.4.0 calls a cluster unhealthy
// if it has no ready OpenStackCluster (common/capi_monitor.py, _poll_infra).
// Nothing else refers to the mirror, no machine is made from it, and it has no
// finalizer.
type mirrors struct {
	client client.Client
}

func (p *providers) mirrors(ctx context.Context) {
	must(capicontrollerutil.NewControllerManagedBy(p.mgr, ctrl.LoggerFrom(ctx)).Named("openstackcluster-mirror").
		For(newObject(openStackCluster)).WithOptions(p.controllerOptions()).
		Watches(&infrav1.DevCluster{}, &handler.EnqueueRequestForObject{}).
		Complete(ctx, &mirrors{client: p.client}), "controller of mirrors")
}

func (r *mirrors) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := newObject(openStackCluster)
	if err := r.client.Get(ctx, req.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if _, marked := o.GetAnnotations()[mirrorNote]; !marked || o.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	cluster := &infrav1.DevCluster{}
	if err := r.client.Get(ctx, req.NamespacedName, cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := o.DeepCopy()
	provisioned := cluster.Status.Initialization.Provisioned
	set(o, provisioned != nil && *provisioned, "status", "ready")
	setConditions(o, now(), mirrored(conditions.Get(cluster, infrav1.DevClusterReadyCondition)))
	return ctrl.Result{}, client.IgnoreNotFound(update(ctx, r.client, before, o))
}

// mirrored converts the condition Ready to v1beta1; a missing one is not ready.
func mirrored(ready *metav1.Condition) condition {
	switch {
	case ready == nil:
		return conditionFalse("Ready", "NotReported", "Info", "")
	case ready.Status == metav1.ConditionTrue:
		return conditionTrue("Ready")
	default:
		return conditionFalse("Ready", ready.Reason, "Warning", ready.Message)
	}
}
