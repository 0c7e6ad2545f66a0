// Licensed under the Apache License, Version 2.0 (the "License"); you may
// not use this file except in compliance with the License. You may obtain
// a copy of the License at
//
//      http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

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

// bootstrap adds the kubeadm bootstrap provider as upstream's
// bootstrap/kubeadm/main.go does.
func (p *providers) bootstrap(ctx context.Context) {
	p.setup(ctx, "KubeadmConfig", &kubeadmconfig.Reconciler{
		Client: p.client, SecretCachingClient: p.secrets, APIReader: p.mgr.GetAPIReader(),
		ClusterCache: p.clusterCache, TokenTTL: kubeadmconfig.DefaultTokenTTL,
	})
	p.webhooks(&bootstrapadmission.KubeadmConfig{}, &bootstrapadmission.KubeadmConfigTemplate{})
}

// controlPlane adds the kubeadm control plane provider as upstream's
// controlplane/kubeadm/main.go does, with its longer time limit.
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
