// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"go.uber.org/zap"

	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/reconcilers/kubeadmconfig"
	bootstrapadmission "sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/admission"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/reconcilers/kubeadmcontrolplane"
	controlplaneadmission "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/admission"
)

// bootstrap adds the kubeadm bootstrap provider, like upstream's
// bootstrap/kubeadm/main.go.
func (p *providers) bootstrap(ctx context.Context) {
	p.setup(ctx, "KubeadmConfig", &kubeadmconfig.Reconciler{
		Client: p.client, SecretCachingClient: p.secrets, APIReader: p.mgr.GetAPIReader(),
		ClusterCache: p.clusterCache, TokenTTL: kubeadmconfig.DefaultTokenTTL,
	})
	p.webhooks(&bootstrapadmission.KubeadmConfig{}, &bootstrapadmission.KubeadmConfigTemplate{})
}

// controlPlane adds the kubeadm control plane provider, like upstream's
// controlplane/kubeadm/main.go, with its longer timeout.
func (p *providers) controlPlane(ctx context.Context) {
	o := p.controllerOptions()
	o.ReconciliationTimeout = 3 * time.Minute
	r := &kubeadmcontrolplane.Reconciler{
		Client: p.client, SecretCachingClient: p.secrets, APIReader: p.mgr.GetAPIReader(), ClusterCache: p.clusterCache,
		EtcdDialTimeout: 10 * time.Second, EtcdCallTimeout: 15 * time.Second, EtcdLogger: zap.NewNop(),
		RemoteConditionsGracePeriod: 5 * time.Minute,
	}
	must(r.SetupWithManager(ctx, p.mgr, o), "controller KubeadmControlPlane")
	p.webhooks(&controlplaneadmission.KubeadmControlPlane{},
		&controlplaneadmission.ScaleValidator{Client: p.client},
		&controlplaneadmission.KubeadmControlPlaneTemplate{})
}
