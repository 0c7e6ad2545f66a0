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
	case cluster != nil && (o.GetDeletionTimestamp() != nil || !ran(o)):
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
	infra, err := r.infrastructure(ctx, cluster)
	if err != nil {
		return err
	}
	return cloudCredentials(ctx, r.reader, o, infra)
}

// infrastructure returns the OpenStackCluster of a cluster, empty if it is gone.
func (r *openStackMachines) infrastructure(ctx context.Context, cluster *clusterv1.Cluster) (*unstructured.Unstructured, error) {
	infra := newObject(openStackCluster)
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	return infra, client.IgnoreNotFound(r.client.Get(ctx, key, infra))
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

	server, err := r.server(ctx, o, machine, cluster)
	if err != nil {
		return 0, err
	}
	before := server.DeepCopy()
	left, err := r.instance(ctx, b, o, server, machine, cluster)
	if uerr := client.IgnoreNotFound(update(ctx, r.client, before, server)); err == nil {
		err = uerr
	}
	return left, err
}

// instance changes a machine and its server as CAPO would.
func (r *openStackMachines) instance(ctx context.Context, b behaviour, o, server *unstructured.Unstructured, machine *clusterv1.Machine, cluster *clusterv1.Cluster) (time.Duration, error) {
	id, address := fakeID(string(o.GetUID()))
	if !ran(o) && !ran(server) { // the cache may have an old machine
		// Until it runs, the machine just waits, whatever happens.
		if nested(server, "status", "instanceState") == stateError {
			return 0, nil // CAPO never touches such a server again
		}
		left := remaining(server.GetCreationTimestamp().Time, b.CreateDelay, r.now())
		switch {
		case left > 0 && b.Failure == "":
			set(server, id, "status", "instanceID")
			set(server, stateBuild, "status", "instanceState")
			set(server, false, "status", "ready")
		case left <= 0 && b.Failure != "":
			// Refused when it is created (getOrCreateServer): only then CAPO
			// has Nova's message.
			r.report(server, stateError, conditionFalse(instanceReady, "InstanceCreateFailed", "Error", b.Failure))
		}
		if left > 0 || b.Failure != "" {
			return left, nil
		}
	}
	if b.Failure != "" {
		joined := machine.Status.NodeRef.IsDefined()
		r.failed(o, server, b.Failure, joined)
		if !joined {
			return 0, nil
		}
		return 0, r.halt(ctx, cluster, o)
	}
	if left, crashes := r.lifetime(o, b); crashes && left <= 0 {
		r.crashed(o, server)
		return 0, r.halt(ctx, cluster, o)
	}
	r.active(o, server, util.IsControlPlaneMachine(machine), id, address)
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

// ran returns whether the instance of a machine, or of a server, has been ACTIVE.
func ran(o *unstructured.Unstructured) bool {
	ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
	return ready
}

func (r *openStackMachines) waiting(o *unstructured.Unstructured, reason string) {
	if !ran(o) {
		set(o, false, "status", "ready")
		setConditions(o, r.now(), conditionFalse("Ready", reason, "Info", ""), conditionFalse(instanceReady, reason, "Info", ""))
	}
}

// server returns the OpenStackServer of a machine. CAPO's controller of machines
// makes it (getOrCreateMachineServer) and waits for its instance to be ACTIVE;
// another one writes its status. The garbage collector deletes it at the latest.
func (r *openStackMachines) server(ctx context.Context, o *unstructured.Unstructured, machine *clusterv1.Machine, cluster *clusterv1.Cluster) (*unstructured.Unstructured, error) {
	server := newObject(openStackServer)
	// Nothing else tells how far an instance is, so it must not be an old one.
	if err := r.reader.Get(ctx, client.ObjectKeyFromObject(o), server); !apierrors.IsNotFound(err) {
		return server, err
	}
	infra, err := r.infrastructure(ctx, cluster)
	if err != nil {
		return nil, err
	}
	spec := map[string]any{"sshKeyName": "", "ports": []any{map[string]any{}},
		"userDataRef": map[string]any{"name": *machine.Spec.Bootstrap.DataSecretName}}
	if machine.Spec.FailureDomain != "" {
		spec["availabilityZone"] = machine.Spec.FailureDomain
	}
	for _, from := range []*unstructured.Unstructured{infra, o} {
		if v, ok, _ := unstructured.NestedFieldCopy(from.Object, "spec", "identityRef"); ok {
			spec["identityRef"] = v
		}
	}
	for _, name := range []string{"additionalBlockDevices", "configDrive", "flavor", "flavorID", "floatingIPPoolRef", "image", "ports", "rootVolume",
		"schedulerHintAdditionalProperties", "serverGroup", "serverMetadata", "sshKeyName", "tags", "trunk"} {
		if v, ok, _ := unstructured.NestedFieldCopy(o.Object, "spec", name); ok {
			spec[name] = v
		}
	}
	server = newObject(openStackServer)
	server.SetNamespace(o.GetNamespace())
	server.SetName(o.GetName())
	server.SetLabels(map[string]string{clusterv1.ClusterNameLabel: cluster.Name})
	server.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID()}})
	set(server, spec, "spec")
	return server, r.client.Create(ctx, server)
}

// report writes the state of a server, and the condition that CAPO sums up as
// Ready (patchServer).
func (r *openStackMachines) report(server *unstructured.Unstructured, state string, c condition) {
	set(server, state, "status", "instanceState")
	ready := c
	ready.kind = "Ready"
	setConditions(server, r.now(), ready, c)
}

// failed reports an instance that has run and is in state ERROR, as CAPO does
// (reconcileMachineState): terminal unless the machine has been a node, as the
// error may then pass. CAPO's message contains the address of a variable; this
// one has Nova's reason.
func (r *openStackMachines) failed(o, server *unstructured.Unstructured, message string, joined bool) {
	if !joined {
		set(o, "UpdateError", "status", "failureReason")
		set(o, message, "status", "failureMessage")
	}
	setConditions(o, r.now(), conditionFalse("Ready", "InstanceStateError", "Error", message),
		conditionFalse(instanceReady, "InstanceStateError", "Error", message))
	r.report(server, stateError, conditionFalse(instanceReady, "InstanceStateError", "Error", ""))
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
		return other.GetName() != o.GetName() && conditionOf(&other, instanceReady)["status"] == "True"
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
func (r *openStackMachines) crashed(o, server *unstructured.Unstructured) {
	message := "Instance state is not handled: " + stateShutoff
	setConditions(o, r.now(), conditionUnknown("Ready", "InstanceNotReady", message),
		conditionUnknown(instanceReady, "InstanceNotReady", message))
	r.report(server, stateShutoff, conditionUnknown(instanceReady, "InstanceNotReady", message))
}

func (r *openStackMachines) active(o, server *unstructured.Unstructured, controlPlane bool, id, address string) {
	// A region in identityRef becomes the host of the URL (CAPO).
	set(o, providerID(o, id), "spec", "providerID")
	set(o, id, "status", "instanceID")
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
	set(server, id, "status", "instanceID")
	set(server, true, "status", "ready")
	r.report(server, stateActive, conditionTrue(instanceReady))
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
	server := newObject(openStackServer)
	server.SetNamespace(o.GetNamespace())
	server.SetName(o.GetName())
	if err := r.client.Delete(ctx, server); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	controllerutil.RemoveFinalizer(o, openStackFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(update(ctx, r.client, before, o))
}
