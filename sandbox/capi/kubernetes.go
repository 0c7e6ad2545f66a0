// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	namespacecontroller "k8s.io/kubernetes/pkg/controller/namespace"
	serviceaccountcontroller "k8s.io/kubernetes/pkg/controller/serviceaccount"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// discoveryPeriod is how often the garbage collector looks for new kinds
	// (cmd/kube-controller-manager/app/core.go).
	discoveryPeriod = 30 * time.Second

	// Workers, as few as in a cluster of one node.
	garbageCollectorWorkers, namespaceWorkers, serviceAccountWorkers = 5, 10, 1

	// namespaceResync is the default of kube-controller-manager.
	namespaceResync = 5 * time.Minute
)

// kubernetesControllers are the controllers of kube-controller-manager that
// Cluster API relies on. Without the garbage collector, a deleted cluster leaves
// its Secrets behind, and a new one of the same name would use the old
// certificate authority.
type kubernetesControllers struct {
	config *rest.Config

	informers informers.SharedInformerFactory
	metadata  metadatainformer.SharedInformerFactory
	collector *garbagecollector.GarbageCollector
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	clients   *kubernetes.Clientset
	started   chan struct{} // closed when the informers have started

	namespaces      *namespacecontroller.NamespaceController
	serviceAccounts *serviceaccountcontroller.ServiceAccountsController
}

// addKubernetesControllers makes the manager run them. They have clients and
// caches of their own: the manager's caches leave out what Cluster API does not
// read.
func addKubernetesControllers(ctx context.Context, mgr ctrl.Manager) {
	k := &kubernetesControllers{config: rest.CopyConfig(mgr.GetConfig()), started: make(chan struct{})}
	must(k.create(ctx), "controllers of Kubernetes")
	must(mgr.Add(manager.RunnableFunc(k.run)), "controllers of Kubernetes")
}

func (k *kubernetesControllers) create(ctx context.Context) error {
	// Deleting a namespace is many requests (core.go, newNamespaceController).
	k.config.QPS, k.config.Burst = 400, 2000
	var err error
	if k.clients, err = kubernetes.NewForConfig(k.config); err != nil {
		return err
	}
	client, err := metadata.NewForConfig(k.config)
	if err != nil {
		return err
	}
	k.informers = informers.NewSharedInformerFactory(k.clients, 0)
	k.metadata = metadatainformer.NewSharedInformerFactory(client, 0)
	k.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(k.clients.Discovery()))

	ignored := map[schema.GroupResource]struct{}{}
	for resource := range garbagecollector.DefaultIgnoredResources() {
		ignored[resource] = struct{}{}
	}
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, client, k.mapper, ignored,
		informerfactory.NewInformerFactory(k.informers, k.metadata), k.started)
	if k.collector, err = garbagecollector.NewComposedGarbageCollector(ctx, k.clients, client, k.mapper, graph); err != nil {
		return err
	}
	core := k.informers.Core().V1()
	k.namespaces = namespacecontroller.NewNamespaceController(ctx, k.clients, client,
		k.clients.Discovery().ServerPreferredNamespacedResources, core.Namespaces(),
		namespaceResync, corev1.FinalizerKubernetes)
	k.serviceAccounts, err = serviceaccountcontroller.NewServiceAccountsController(ctrl.LoggerFrom(ctx),
		core.ServiceAccounts(), core.Namespaces(), k.clients, serviceaccountcontroller.DefaultServiceAccountsControllerOptions())
	return err
}

// run ends when the context does.
func (k *kubernetesControllers) run(ctx context.Context) error {
	go wait.Until(k.mapper.Reset, discoveryPeriod, ctx.Done())
	go k.collector.Run(ctx, garbageCollectorWorkers, discoveryPeriod)
	go k.collector.Sync(ctx, k.clients.Discovery(), discoveryPeriod)
	go k.namespaces.Run(ctx, namespaceWorkers)
	go k.serviceAccounts.Run(ctx, serviceAccountWorkers)
	k.informers.Start(ctx.Done())
	k.metadata.Start(ctx.Done())
	close(k.started)
	<-ctx.Done()
	return nil
}
