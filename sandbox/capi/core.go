// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/core/reconcilers/cluster"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterclass"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourceset"
	"sigs.k8s.io/cluster-api/core/reconcilers/clusterresourcesetbinding"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinedeployment"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinepool"
	"sigs.k8s.io/cluster-api/core/reconcilers/machineset"
	topologycluster "sigs.k8s.io/cluster-api/core/reconcilers/topology/cluster"
	topologymachinedeployment "sigs.k8s.io/cluster-api/core/reconcilers/topology/machinedeployment"
	topologymachineset "sigs.k8s.io/cluster-api/core/reconcilers/topology/machineset"
	coreadmission "sigs.k8s.io/cluster-api/core/webhooks/admission"
	"sigs.k8s.io/cluster-api/feature"
)

// core adds the core provider like upstream's core/main.go, without the Runtime
// SDK (its client is internal) and without CRD migration (a sandbox has fresh
// CRDs).
func (p *providers) core(ctx context.Context) {
	c, r, cc := p.client, p.mgr.GetAPIReader(), p.clusterCache

	if feature.Gates.Enabled(feature.ClusterTopology) {
		p.setup(ctx, "ClusterClass", &clusterclass.Reconciler{Client: c})
		p.setup(ctx, "ClusterTopology", &topologycluster.Reconciler{Client: c, APIReader: r, ClusterCache: cc})
		p.setup(ctx, "MachineDeploymentTopology", &topologymachinedeployment.Reconciler{Client: c, APIReader: r})
		p.setup(ctx, "MachineSetTopology", &topologymachineset.Reconciler{Client: c, APIReader: r})
	}
	p.setup(ctx, "Cluster", &cluster.Reconciler{Client: c, APIReader: r, ClusterCache: cc, RemoteConnectionGracePeriod: 50 * time.Second})
	p.setup(ctx, "Machine", &machine.Reconciler{Client: c, APIReader: r, ClusterCache: cc, RemoteConditionsGracePeriod: 5 * time.Minute})
	p.setup(ctx, "MachineSet", &machineset.Reconciler{Client: c, APIReader: r, ClusterCache: cc,
		PreflightChecks: sets.New(clusterv1.MachineSetPreflightCheckAll)})
	p.setup(ctx, "MachineDeployment", &machinedeployment.Reconciler{Client: c, APIReader: r})
	if feature.Gates.Enabled(feature.MachinePool) {
		p.setup(ctx, "MachinePool", &machinepool.Reconciler{Client: c, APIReader: r, ClusterCache: cc})
	}
	p.clusterResourceSet(ctx)
	p.setup(ctx, "ClusterResourceSetBinding", &clusterresourcesetbinding.Reconciler{Client: c})
	p.setup(ctx, "MachineHealthCheck", &machinehealthcheck.Reconciler{Client: c, ClusterCache: cc})

	p.webhooks(
		&coreadmission.ClusterClass{Client: c}, &coreadmission.Cluster{Client: c, ClusterCacheReader: cc},
		&coreadmission.Machine{}, &coreadmission.MachineSet{}, &coreadmission.MachineDeployment{},
		&coreadmission.MachineDrainRule{}, &coreadmission.MachinePool{}, &coreadmission.ClusterResourceSet{},
		&coreadmission.ClusterResourceSetBinding{}, &coreadmission.MachineHealthCheck{}, &coreadmission.ExtensionConfig{},
		&coreadmission.IPAddress{Client: r}, &coreadmission.IPAddressClaim{},
	)
}

// clusterResourceSet adds the only controller that needs the metadata of all
// Secrets, including those that the manager's cache leaves out.
func (p *providers) clusterResourceSet(ctx context.Context) {
	partialSecrets, err := cache.New(p.mgr.GetConfig(), cache.Options{
		Scheme: p.mgr.GetScheme(), Mapper: p.mgr.GetRESTMapper(), HTTPClient: p.mgr.GetHTTPClient(),
		SyncPeriod: &p.options.syncPeriod, DefaultTransform: cache.TransformStripManagedFields(),
	})
	must(err, "partial secret cache")
	must(p.mgr.Add(partialSecrets), "partial secret cache")
	r := &clusterresourceset.Reconciler{Client: p.client, ClusterCache: p.clusterCache}
	must(r.SetupWithManager(ctx, p.mgr, p.controllerOptions(), partialSecrets), "controller ClusterResourceSet")
}
