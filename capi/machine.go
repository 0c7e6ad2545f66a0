// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
)

// Instance states and condition names of CAPO (api/v1beta1 of v0.14.6).
const (
	stateBuild    = "BUILD"
	stateActive   = "ACTIVE"
	stateShutoff  = "SHUTOFF"
	stateError    = "ERROR"
	instanceReady = "InstanceReady"
)

// nodeReadyFrom is the annotation with the time at which a node becomes Ready.
const nodeReadyFrom = "node-ready-from"

// openStackMachines reports what CAPO would report about a Nova instance, and
// does to the in-memory cluster what kubeadm and kubelet on it would do.
type openStackMachines struct {
	client     client.Client
	reader     client.Reader // not a cache: the manager's has not all Secrets
	workloads  *workloads
	behaviours behaviours
	now        func() time.Time
}

// ofCluster enqueues the OpenStackMachines of a Cluster.
func (r *openStackMachines) ofCluster(ctx context.Context, o client.Object) []ctrl.Request {
	l := &clusterv1.MachineList{}
	if err := r.client.List(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingLabels{clusterv1.ClusterNameLabel: o.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Machines of a Cluster", "cluster", client.ObjectKeyFromObject(o))
		return nil
	}
	var reqs []ctrl.Request
	for _, m := range l.Items {
		if m.Spec.InfrastructureRef.Kind == openStackMachine.Kind {
			reqs = append(reqs, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: m.Namespace, Name: m.Spec.InfrastructureRef.Name}})
		}
	}
	return reqs
}

// ofCNI enqueues the OpenStackMachines whose nodes wait for a CNI addon.
func (r *openStackMachines) ofCNI(ctx context.Context, o client.Object) []ctrl.Request {
	u, ok := o.(*unstructured.Unstructured)
	if !ok || !isCNI(u) {
		return nil
	}
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: u.GetNamespace(), Name: nested(u, "spec", "clusterName")}}
	return r.ofCluster(ctx, c)
}

func (r *openStackMachines) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := newObject(openStackMachine)
	if err := r.client.Get(ctx, req.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := o.DeepCopy()
	machine, err := util.GetOwnerMachine(ctx, r.client, metav1.ObjectMeta{Namespace: o.GetNamespace(), OwnerReferences: o.GetOwnerReferences()})
	if err != nil && !apierrors.IsNotFound(err) {
		return ctrl.Result{}, err
	}
	var cluster *clusterv1.Cluster
	if machine != nil {
		// The Cluster may be gone if its finalizer was removed.
		cluster, err = util.GetClusterFromMetadata(ctx, r.client, machine.ObjectMeta)
		if client.IgnoreNotFound(err) != nil && o.GetDeletionTimestamp() == nil {
			return ctrl.Result{}, err
		}
	}
	switch {
	case isPaused(cluster, o):
		return ctrl.Result{}, nil // the watch of Clusters wakes it
	case cluster != nil && (o.GetDeletionTimestamp() != nil || nested(o, "status", "instanceState") == ""):
		if err := r.credentials(ctx, o, cluster); err != nil {
			return ctrl.Result{}, err
		}
	}
	switch {
	case o.GetDeletionTimestamp() != nil:
		return r.delete(ctx, before, o, machine)
	case cluster == nil:
		return ctrl.Result{}, nil // the Machine controller sets the owner reference
	}
	after, err := r.reconcile(ctx, o, machine, cluster)
	// The status is written even if the workload cluster failed; the error
	// then leads to a retry.
	if uerr := client.IgnoreNotFound(update(ctx, r.client, before, o)); err == nil {
		err = uerr
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// credentials returns why CAPO could not make or delete a machine.
func (r *openStackMachines) credentials(ctx context.Context, o *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	infra := newObject(openStackCluster)
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.client.Get(ctx, key, infra); client.IgnoreNotFound(err) != nil {
		return err
	}
	return cloudCredentials(ctx, r.reader, o, infra)
}

// behaviour returns the behaviour of a machine.
func (r *openStackMachines) behaviour(o *unstructured.Unstructured) (behaviour, error) {
	return r.behaviours.of(nested(o, "spec", "flavor"), nested(o, "spec", "flavorID")).with(o.GetAnnotations())
}

// reconcile changes o as CAPO would, and the node accordingly. It returns the
// time until the next reconciliation is needed.
func (r *openStackMachines) reconcile(ctx context.Context, o *unstructured.Unstructured, machine *clusterv1.Machine, cluster *clusterv1.Cluster) (time.Duration, error) {
	b, err := r.behaviour(o)
	if err != nil {
		return 0, reconcile.TerminalError(fmt.Errorf("OpenStackMachine %s: %w", o.GetName(), err))
	}
	if nested(o, "status", "failureReason") != "" {
		return 0, nil // CAPO never touches a failed machine again
	}
	// The preconditions of CAPO (reconcileNormal of its machine controller).
	if p := cluster.Status.Initialization.InfrastructureProvisioned; p == nil || !*p {
		r.waiting(o, "WaitingForClusterInfrastructure")
		return 0, nil
	}
	if machine.Spec.Bootstrap.DataSecretName == nil {
		r.waiting(o, "WaitingForBootstrapData")
		return 0, nil
	}
	controllerutil.AddFinalizer(o, openStackFinalizer)

	if left := r.building(o, b); left > 0 {
		return left, nil
	}
	id, address := fakeID(string(o.GetUID()))
	if b.Failure != "" {
		joined := machine.Status.NodeRef.IsDefined()
		r.failed(o, b.Failure, joined)
		if !joined {
			return 0, nil
		}
		return 0, r.halt(ctx, cluster, o)
	}
	if left, crashes := r.lifetime(o, b); crashes && left <= 0 {
		r.crashed(o)
		return 0, r.halt(ctx, cluster, o)
	}
	r.active(o, util.IsControlPlaneMachine(machine), id, address)
	if b.Node == nodeAbsent {
		return 0, r.workloads.removeMachine(ctx, client.ObjectKeyFromObject(cluster), o.GetName())
	}
	if err := r.join(ctx, cluster, machine, o, address); err != nil {
		if util.IsControlPlaneMachine(machine) {
			setConditions(o, r.now(), conditionTrue("Ready"), conditionTrue(instanceReady),
				conditionFalse("APIServerIngressReady", "LoadBalancerMemberError", "Error", err.Error()))
		}
		return 0, err
	}
	left, err := r.nodeReady(ctx, cluster, o, b)
	if err == nil && left == 0 {
		left, _ = r.lifetime(o, b)
	}
	return left, err
}

func (r *openStackMachines) waiting(o *unstructured.Unstructured, reason string) {
	if nested(o, "status", "instanceState") == "" {
		set(o, false, "status", "ready")
		setConditions(o, r.now(), conditionFalse("Ready", reason, "Info", ""), conditionFalse(instanceReady, reason, "Info", ""))
	}
}

// building returns the time until an instance has been created. The start is
// recorded in the condition that CAPO sets meanwhile, so it survives a restart.
func (r *openStackMachines) building(o *unstructured.Unstructured, b behaviour) time.Duration {
	start := r.now()
	switch nested(o, "status", "instanceState") {
	case "":
	case stateBuild:
		if t, ok := transition(o, "Ready"); ok {
			start = t
		}
	default:
		return 0
	}
	left := remaining(start, b.CreateDelay, r.now())
	if left > 0 {
		set(o, stateBuild, "status", "instanceState")
		set(o, false, "status", "ready")
		setConditions(o, r.now(), conditionFalse("Ready", "InstanceNotReady", "Info", "Instance is building"),
			conditionFalse(instanceReady, "InstanceNotReady", "Info", "Instance is building"))
	}
	return left
}

// failed reports an instance in state ERROR as CAPO does (reconcileMachineState):
// terminal unless the machine has been a node, as the error may then pass.
// CAPO's message contains the address of a variable; this one has Nova's reason.
func (r *openStackMachines) failed(o *unstructured.Unstructured, message string, joined bool) {
	set(o, stateError, "status", "instanceState")
	if !joined {
		set(o, false, "status", "ready")
		set(o, "UpdateError", "status", "failureReason")
		set(o, message, "status", "failureMessage")
	}
	setConditions(o, r.now(), conditionFalse("Ready", "InstanceStateError", "Error", message),
		conditionFalse(instanceReady, "InstanceStateError", "Error", message))
}

// halt does to a cluster what an instance that does not run any more does: its
// kubelet stops, and without a control plane also the API server.
func (r *openStackMachines) halt(ctx context.Context, cluster *clusterv1.Cluster, o *unstructured.Unstructured) error {
	key := client.ObjectKeyFromObject(cluster)
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(listKind(openStackMachine))
	if err := r.client.List(ctx, l, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name},
		client.HasLabels{clusterv1.MachineControlPlaneLabel}); err != nil {
		return err
	}
	if !slices.ContainsFunc(l.Items, func(other unstructured.Unstructured) bool {
		return other.GetName() != o.GetName() && nested(&other, "status", "instanceState") == stateActive
	}) {
		r.workloads.stop(key)
	}
	return r.workloads.stopKubelet(ctx, key, o.GetName())
}

// lifetime returns the time until an instance crashes, and whether it does.
func (r *openStackMachines) lifetime(o *unstructured.Unstructured, b behaviour) (time.Duration, bool) {
	from, err := time.Parse(time.RFC3339Nano, o.GetAnnotations()[annotationPrefix+nodeReadyFrom])
	if b.Lifetime == 0 || err != nil { // it has not been Ready yet
		return 0, false
	}
	return from.Add(time.Duration(b.Lifetime)).Sub(r.now()), true
}

// crashed reports an instance that is off, as CAPO does (reconcileMachineState).
func (r *openStackMachines) crashed(o *unstructured.Unstructured) {
	set(o, stateShutoff, "status", "instanceState")
	message := "Instance state is not handled: " + stateShutoff
	setConditions(o, r.now(), conditionUnknown("Ready", "InstanceNotReady", message),
		conditionUnknown(instanceReady, "InstanceNotReady", message))
}

func (r *openStackMachines) active(o *unstructured.Unstructured, controlPlane bool, id, address string) {
	// A region in identityRef becomes the host of the URL (CAPO).
	set(o, providerID(o, id), "spec", "providerID")
	set(o, id, "status", "instanceID")
	set(o, stateActive, "status", "instanceState")
	set(o, true, "status", "ready")
	set(o, true, "status", "initialization", "provisioned")
	set(o, []any{
		map[string]any{"type": "InternalIP", "address": address},
		map[string]any{"type": "InternalDNS", "address": o.GetName()},
	}, "status", "addresses")
	conditions := []condition{conditionTrue("Ready"), conditionTrue(instanceReady)}
	if controlPlane {
		conditions = append(conditions, conditionTrue("APIServerIngressReady"))
	}
	setConditions(o, r.now(), conditions...)
}

func providerID(o *unstructured.Unstructured, id string) string {
	return "openstack://" + nested(o, "spec", "identityRef", "region") + "/" + id
}

// nodeReady makes the node of a machine Ready once the cluster has a CNI, like a
// kubelet. The time for that is recorded in an annotation: a node stays Ready
// if an addon fails later, even after a restart.
func (r *openStackMachines) nodeReady(ctx context.Context, cluster *clusterv1.Cluster, o *unstructured.Unstructured, b behaviour) (time.Duration, error) {
	key := client.ObjectKeyFromObject(cluster)
	from, err := time.Parse(time.RFC3339Nano, o.GetAnnotations()[annotationPrefix+nodeReadyFrom])
	if err != nil { // not there
		found, err := r.hasCNI(ctx, cluster)
		if err != nil {
			return 0, err
		}
		if !found {
			return 0, r.workloads.setNode(ctx, key, o.GetName(), waitsForCNI) // a watch wakes it, see openStack
		}
		from = r.now().Add(time.Duration(b.NodeReadyDelay))
		annotate(o, nodeReadyFrom, from.Format(time.RFC3339Nano))
	}
	if left := until(from, b.NodeReadyDelay, r.now()); left > 0 {
		return left, r.workloads.setNode(ctx, key, o.GetName(), waitsForCNI)
	}
	if b.Node == nodeNotReady {
		return 0, r.workloads.setNode(ctx, key, o.GetName(), waitsForCNI)
	}
	return 0, r.workloads.setNode(ctx, key, o.GetName(), kubeletReady)
}

// delete always completes: nothing else missing or wrong keeps the finalizer.
func (r *openStackMachines) delete(ctx context.Context, before, o *unstructured.Unstructured, machine *clusterv1.Machine) (ctrl.Result, error) {
	b, err := r.behaviour(o)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Behaviour ignored")
	}
	if controllerutil.ContainsFinalizer(o, openStackFinalizer) {
		if left := remaining(o.GetDeletionTimestamp().Time, b.DeleteDelay, r.now()); left > 0 {
			return ctrl.Result{RequeueAfter: left}, nil
		}
	}
	cluster := client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetLabels()[clusterv1.ClusterNameLabel]}
	if machine != nil {
		cluster.Name = machine.Spec.ClusterName
	}
	if err := r.workloads.removeMachine(ctx, cluster, o.GetName()); err != nil {
		return ctrl.Result{}, err
	}
	controllerutil.RemoveFinalizer(o, openStackFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(update(ctx, r.client, before, o))
}
