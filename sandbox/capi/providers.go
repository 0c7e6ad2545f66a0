// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sversion "k8s.io/apimachinery/pkg/version"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	controlplaneconversion "sigs.k8s.io/cluster-api/controlplane/kubeadm/webhooks/conversion"
	coresetup "sigs.k8s.io/cluster-api/core/setup"
	coreconversion "sigs.k8s.io/cluster-api/core/webhooks/conversion"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/cluster-api/util/index"
)

// providers holds what all providers share. Upstream has it in each manager
// binary; here one ClusterCache (one connection and one Node informer per
// workload cluster) serves all of them.
type providers struct {
	options      *options
	mgr          ctrl.Manager
	client       client.Client
	secrets      client.Client
	clusterCache clustercache.ClusterCache
}

type setupper interface {
	SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error
}

type webhookSetupper interface {
	SetupWebhookWithManager(mgr ctrl.Manager) error
}

func newProviders(ctx context.Context, mgr ctrl.Manager, o *options) *providers {
	p := &providers{options: o, mgr: mgr, client: mgr.GetClient()}
	var err error
	p.secrets, err = coresetup.CreateSecretCachingClient(mgr)
	must(err, "secret caching client")

	if o.clusterAPI {
		p.connectClusters(ctx)
	}

	must(index.AddDefaultIndexes(ctx, mgr), "indexes")
	// The conversion webhooks to v1beta1 ask for the current apiVersion of
	// a referenced kind.
	coreconversion.SetAPIVersionGetter(p.apiVersion)
	controlplaneconversion.SetAPIVersionGetter(p.apiVersion)
	return p
}

// connectClusters adds the connections to workload clusters.
func (p *providers) connectClusters(ctx context.Context) {
	clientOptions := coresetup.ClusterCacheClientOptions(managerName, 100, 200)
	// As in the control plane provider (controlplane/kubeadm/main.go).
	clientOptions.Cache.DisableFor = append(clientOptions.Cache.DisableFor, &appsv1.Deployment{})
	var err error
	p.clusterCache, err = clustercache.SetupWithManager(ctx, p.mgr, clustercache.Options{
		SecretClient: p.secrets,
		Cache:        coresetup.ClusterCacheCacheOptions(),
		Client:       clientOptions,
	}, p.controllerOptions())
	must(err, "cluster cache")
	// An exported method of the implementation, but not in the ClusterCache
	// interface. If a later release drops it, new clusters only take 30 s
	// longer.
	if c, ok := p.clusterCache.(interface{ SetConnectionCreationRetryInterval(time.Duration) }); ok {
		c.SetConnectionCreationRetryInterval(p.options.connectionRetry)
	}
}

func (p *providers) controllerOptions() controller.Options {
	return controller.Options{MaxConcurrentReconciles: p.options.concurrency}
}

// setup adds one of Cluster API's controllers.
func (p *providers) setup(ctx context.Context, name string, s setupper) {
	must(s.SetupWithManager(ctx, p.mgr, p.controllerOptions()), "controller "+name)
}

func (p *providers) webhooks(list ...webhookSetupper) {
	for _, w := range list {
		must(w.SetupWebhookWithManager(p.mgr), fmt.Sprintf("webhook %T", w))
	}
}

// apiVersion returns the newest apiVersion of a kind that fulfils a contract
// supported by Cluster API, by the contract labels of its CRD. The rule is that
// of Cluster API's internal/contract.GetAPIVersion, which cannot be imported.
func (p *providers) apiVersion(ctx context.Context, gk schema.GroupKind) (string, error) {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetName(contract.CalculateCRDName(gk.Group, gk.Kind))
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	if err := p.client.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
		return "", err
	}
	return contractVersion(gk, crd)
}

func contractVersion(gk schema.GroupKind, crd *metav1.PartialObjectMetadata) (string, error) {
	for _, c := range []string{"v1beta2", "v1beta1"} {
		if l := crd.GetLabels()[clusterv1.GroupVersion.Group+"/"+c]; l != "" {
			vs := strings.Split(l, "_")
			sort.Slice(vs, func(i, j int) bool { return k8sversion.CompareKubeAwareVersionStrings(vs[i], vs[j]) < 0 })
			return gk.Group + "/" + vs[len(vs)-1], nil
		}
	}
	return "", fmt.Errorf("the CRD %s has no label %s/<contract>, add %s/v1beta1=v1beta1 if it is of Cluster API Provider OpenStack",
		crd.GetName(), clusterv1.GroupVersion.Group, clusterv1.GroupVersion.Group)
}
