// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	capicontrollerutil "sigs.k8s.io/cluster-api/util/controller"
)

// The kinds of the addon provider of capi-helm-charts
// (github.com/azimuth-cloud/cluster-api-addon-provider).
var (
	addonsGV    = schema.GroupVersion{Group: "addons.stackhpc.com", Version: "v1alpha1"}
	helmRelease = addonsGV.WithKind("HelmRelease")
	manifests   = addonsGV.WithKind("Manifests")
)

const (
	addonClusterLabel = "addons.stackhpc.com/cluster" // set by the addon provider, read by drivers
	phasePending      = "Pending"
	phaseInstalling   = "Installing"
	phaseUpgrading    = "Upgrading"
	phaseDeployed     = "Deployed"
	phaseFailed       = "Failed"
)

// addons adds the stand-in for the addon provider.
func (p *providers) addons(ctx context.Context) {
	secrets := p.watchedSecrets()
	for _, gvk := range []schema.GroupVersionKind{helmRelease, manifests} {
		r := &addons{client: p.client, watched: secrets, reader: p.mgr.GetAPIReader(), gvk: gvk, behaviours: p.options.behaviours, now: now}
		must(capicontrollerutil.NewControllerManagedBy(p.mgr, ctrl.LoggerFrom(ctx)).Named("addon-"+gvk.Kind).
			For(newObject(gvk)).WithOptions(p.controllerOptions()).
			Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(r.ofCluster), predicate.Funcs{UpdateFunc: concernsAddons}).
			Watches(&addonsv1.ClusterResourceSetBinding{}, handler.EnqueueRequestsFromMapFunc(r.ofBinding)).
			WatchesRawSource(source.Kind(secrets, &corev1.Secret{}, handler.TypedEnqueueRequestsFromMapFunc(r.ofSecret))).
			Complete(ctx, r), "controller "+gvk.Kind)
		if gvk == helmRelease && p.options.cloudController != "" {
			p.addCloudControllers(ctx, r)
		}
	}
}

// addons installs nothing: it moves an addon through the phases that the addon
// provider would report, and annotates it with the checksum of the cloud's
// credentials (see addon_notes.go).
type addons struct {
	client     client.Client
	watched    client.Reader // the cache of watched Secrets
	reader     client.Reader // not a cache: the manager's has not all Secrets
	gvk        schema.GroupVersionKind
	behaviours behaviours
	now        func() time.Time
}

// concernsAddons says whether an update of a Cluster can change its addons: its
// specification, or what installable reads. Each operation has dozens of others,
// most of which count Machines. (Reconcile also reads the control plane's flavor
// and the name of the credentials' Secret, from objects that it does not watch: a
// change of these alone takes effect with the next event that concerns addons.)
func concernsAddons(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*clusterv1.Cluster), e.ObjectNew.(*clusterv1.Cluster)
	return before.Generation != after.Generation || initialized(before) != initialized(after) ||
		conditions.IsTrue(before, clusterv1.ClusterAvailableCondition) != conditions.IsTrue(after, clusterv1.ClusterAvailableCondition)
}

func (r *addons) ofCluster(ctx context.Context, o client.Object) []ctrl.Request {
	return r.those(ctx, o, func(addon *unstructured.Unstructured) bool {
		return nested(addon, "spec", "clusterName") == o.GetName()
	})
}

// those returns the addons in the namespace of an object for which a condition
// holds.
func (r *addons) those(ctx context.Context, o client.Object, holds func(*unstructured.Unstructured) bool) []ctrl.Request {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(listKind(r.gvk))
	if err := r.client.List(ctx, l, client.InNamespace(o.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Addons of an object", "object", client.ObjectKeyFromObject(o))
		return nil
	}
	var reqs []ctrl.Request
	for i := range l.Items {
		if holds(&l.Items[i]) {
			reqs = append(reqs, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&l.Items[i])})
		}
	}
	return reqs
}

func (r *addons) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := newObject(r.gvk)
	if err := r.client.Get(ctx, req.NamespacedName, o); err != nil || o.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	cluster := &clusterv1.Cluster{}
	key := client.ObjectKey{Namespace: o.GetNamespace(), Name: nested(o, "spec", "clusterName")}
	if err := r.client.Get(ctx, key, cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err) // the watch of Clusters wakes it
	}
	flavors, err := controlPlaneFlavors(ctx, r.client, cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	b := r.behaviours.of(flavors...)
	if isCNI(o) {
		// Without a network no node becomes ready, and no driver gets as
		// far as to read addons.
		b.AddonPhase = ""
	}
	b, err = b.with(o.GetAnnotations())
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(fmt.Errorf("%s %s: %w", r.gvk.Kind, req.Name, err))
	}
	before := o.DeepCopy()
	adopt(o, cluster)
	if err := r.tell(ctx, o, cluster); err != nil {
		return ctrl.Result{}, err
	}
	applied, err := r.applied(ctx, o, cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	after := r.setPhase(o, applied && installable(o, cluster), b)
	return ctrl.Result{RequeueAfter: after}, client.IgnoreNotFound(update(ctx, r.client, before, o))
}

// adopt sets label and owner as the addon provider does when it first sees an
// addon (init_metadata of its v1alpha1 models).
func adopt(o *unstructured.Unstructured, cluster *clusterv1.Cluster) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[addonClusterLabel] = cluster.Name
	o.SetLabels(labels)
	block := true
	o.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster.Name, UID: cluster.UID, BlockOwnerDeletion: &block,
	}})
}

// setPhase sets the phase of an addon and returns the time until it changes
// next. ready means that its installation can begin. An annotation records
// since when that is so, and for which content, and so an addon never goes back
// to Pending.
func (r *addons) setPhase(o *unstructured.Unstructured, ready bool, b behaviour) time.Duration {
	const record, subject = "installing-since", "installing"
	essence := essenceOf(o)
	since, err := time.Parse(time.RFC3339Nano, o.GetAnnotations()[annotationPrefix+record])
	if begun := err == nil; !begun || o.GetAnnotations()[annotationPrefix+subject] != digest(essence) {
		if !begun && !ready {
			set(o, phasePending, "status", "phase")
			return 0
		}
		since = r.now()
		annotate(o, record, since.Format(time.RFC3339Nano))
		annotate(o, subject, digest(essence))
	}
	if left := until(since.Add(time.Duration(b.AddonDelay)), b.AddonDelay, r.now()); left > 0 {
		phase := phaseInstalling
		if _, ok := o.GetAnnotations()[addonLastHandled]; ok {
			phase = phaseUpgrading
		}
		set(o, phase, "status", "phase")
		return left
	}
	note(o, addonLastHandled, essence)
	phase := b.AddonPhase
	if phase == "" {
		phase = phaseDeployed
	}
	set(o, phase, "status", "phase")
	if phase == phaseFailed {
		set(o, "failed by the sandbox (addonPhase)", "status", "failureMessage")
	} else {
		unstructured.RemoveNestedField(o.Object, "status", "failureMessage")
	}
	return 0
}

// installable is the addon provider's rule: a bootstrap addon needs an API
// server, every other one an Available cluster, including its workers. (A
// cluster is Ready in v1beta1 without them, but it reads the version that the
// API prefers.)
func installable(o *unstructured.Unstructured, cluster *clusterv1.Cluster) bool {
	if bootstrap, _, _ := unstructured.NestedBool(o.Object, "spec", "bootstrap"); bootstrap {
		return initialized(cluster)
	}
	return conditions.IsTrue(cluster, clusterv1.ClusterAvailableCondition)
}

// initialized says whether a cluster has an API server.
func initialized(cluster *clusterv1.Cluster) bool {
	c := cluster.Status.Initialization.ControlPlaneInitialized
	return c != nil && *c
}

// controlPlaneFlavors returns name and id of the flavor of a cluster's control
// plane, or nothing if there is no such control plane.
func controlPlaneFlavors(ctx context.Context, c client.Client, cluster *clusterv1.Cluster) ([]string, error) {
	if cluster.Spec.ControlPlaneRef.Kind != "KubeadmControlPlane" {
		return nil, nil
	}
	kcp := &controlplanev1.KubeadmControlPlane{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}, kcp); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	ref := kcp.Spec.MachineTemplate.Spec.InfrastructureRef
	if ref.Kind != openStackMachineTemplate.Kind {
		return nil, nil
	}
	t := newObject(openStackMachineTemplate)
	if err := c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: ref.Name}, t); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return []string{
		nested(t, "spec", "template", "spec", "flavor"), nested(t, "spec", "template", "spec", "flavorID"),
	}, nil
}
