// SPDX-License-Identifier: Apache-2.0

// The program capi is a whole Cluster API management plane in one process,
// for a sandbox: it makes no cloud calls and starts no containers.
//
// # What runs in it
//
//   - Cluster API's core, kubeadm bootstrap and kubeadm control plane
//     controllers and webhooks, unmodified, from their public packages.
//
//   - Of kube-controller-manager the garbage collector and the controllers of
//     namespaces and service accounts, unmodified: there is no other one.
//
//   - A stand-in for Cluster API Provider OpenStack: it reconciles
//     OpenStackCluster, and OpenStackMachine with its OpenStackServer, as the
//     real provider would report them if the cloud did everything at once (or
//     late, or not at all: see below). Each workload cluster is an in-memory
//     API server and etcd on its own loopback address.
//
//   - A stand-in for the addon provider of capi-helm-charts: HelmRelease and
//     Manifests get their label, owner and phase; nothing is installed. An
//     addon that names a ClusterResourceSet is Deployed when that is applied.
//
//   - With --docker-owner: Cluster API's own test provider, DevCluster and DevMachine
//     with the docker backend. Machines are containers with real nodes, in the
//     engine that DOCKER_HOST names.
//
//   - With --machine-socket: no stand-in for Cluster API Provider OpenStack; the
//     real one runs and creates servers in Nova. Nova's compute driver asks the
//     service on that socket to boot them, and they come up in memory from the
//     user data of the bootstrap provider.
//
//   - With both: the service runs servers as containers, in which cloud-init
//     carries out the user data. Their networks are bridges, and their load
//     balancers are in this process.
//
//   - With --cluster-api=false: neither Cluster API nor its webhooks. They run in
//     pods of the engine, where this process opens the addresses that pods need.
//
// So the production charts and Magnum drivers run unmodified against it, and
// their objects go through the real controllers.
//
// # What it needs
//
// A Kubernetes API (--kubeconfig) with these CRDs: Cluster API v1.14 (core,
// bootstrap, control plane), Cluster API Provider OpenStack v0.14.6 labelled
// cluster.x-k8s.io/v1beta1=v1beta1, and HelmRelease and Manifests of
// addons.stackhpc.com/v1alpha1 with a status subresource; with --docker-owner alone
// also those of the test provider. --webhook-cert-dir has tls.crt and tls.key for
// the webhooks.
//
// # Where it listens
//
// Only on loopback addresses; others are refused at the start. Webhooks:
// --bind-address and --webhook-port. Health: --health-addr. The API server of
// a workload cluster: an address of --workload-network, from x.y.1.1 upwards,
// on the port of its OpenStackCluster (6443 by default). The first /24 of that
// network is left to other servers of the sandbox.
//
// With --machine-socket, CAPO chooses the address, of a floating IP or a load
// balancer, in --endpoint-network. It belongs to a network namespace that only
// this host can reach and that disappears with this process; that needs root.
// With --cluster-api=false it is also an address in the engine's namespace, for
// the engine's containers, and so is the address of --service-ports.
//
// # Behaviours
//
// --behaviours names a JSON file that maps a flavor (name or id) to what
// machines of that flavor do:
//
//	{"flavors": {"m1.slow": {"createDelay": "20s"},
//	             "m1.fail": {"failure": "No valid host was found"}}}
//
// The keys are createDelay, nodeReadyDelay, deleteDelay, failure, node
// ("absent" or "not-ready"), and, for the addons of clusters whose control
// plane has that flavor, addonPhase and addonDelay. The annotations
// sandbox.magnum-capi/create-delay and so on, on an OpenStackMachine,
// HelmRelease or Manifests, override the file for one object at any time.
//
// As with a real kubelet, a node is only Ready once its cluster has a CNI: a
// deployed addon, or any DaemonSet in the workload cluster that mounts the
// node's folder /etc/cni/net.d.
//
// All state worth keeping is in the management cluster: after a restart the
// in-memory clusters are rebuilt from it, on the same addresses.
//
// # Manifests
//
// "capi kustomize FOLDER" writes the objects of a folder, as "kubectl kustomize"
// does, and ends: a sandbox needs nothing else of kubectl.
package main

import (
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	bootstrapsetup "sigs.k8s.io/cluster-api/bootstrap/kubeadm/setup"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/cluster-api/util/apiwarnings"
	"sigs.k8s.io/cluster-api/version"
)

const managerName = "magnum-capi-sandbox"

func main() {
	if len(os.Args) == 3 && os.Args[1] == "kustomize" {
		must(kustomize(os.Args[2], os.Stdout), "kustomize")
		return
	}
	o := parseOptions()
	ctrl.SetLogger(klog.Background())
	ctx := ctrl.SetupSignalHandler()

	mgr := newManager(o)
	p := newProviders(ctx, mgr, o)
	if o.clusterAPI {
		addKubernetesControllers(ctx, mgr)
		p.core(ctx)
		p.bootstrap(ctx)
		p.controlPlane(ctx)
	}
	p.openStack(ctx)
	p.addons(ctx)
	if o.dockerOwner != "" && o.machineSocket == "" {
		p.docker(ctx)
	}

	klog.InfoS("Starting", "clusterAPI", version.Get().String(),
		"workloadNetwork", o.workloadNetwork, "flavorsWithBehaviour", len(o.behaviours))
	must(mgr.Start(ctx), "manager")
}

func newManager(o *options) ctrl.Manager {
	restConfig, err := ctrl.GetConfig()
	must(err, "kubeconfig")
	restConfig.QPS, restConfig.Burst = 200, 400
	restConfig.UserAgent = remote.DefaultClusterAPIUserAgent(managerName)
	restConfig.WarningHandler = apiwarnings.DefaultHandler(klog.Background().WithName("API Server Warning"))
	must(version.CheckKubernetesVersion(restConfig, version.MinimumKubernetesVersionClusterTopology), "management cluster version")

	scheme := newScheme()
	if o.dockerOwner != "" && o.machineSocket == "" {
		must(addDockerTypes(scheme), "scheme")
	}
	// The cache options of the bootstrap provider are the least restrictive
	// ones (they keep the data of all cluster Secrets); only its MachineSet
	// transformation must go, as other providers read whole MachineSets.
	cacheOptions := bootstrapsetup.ManagerCacheOptions(scheme, managerName, "", o.syncPeriod)
	for obj := range cacheOptions.ByObject {
		if _, ok := obj.(*corev1.Secret); !ok {
			delete(cacheOptions.ByObject, obj)
		}
	}
	cacheOptions.DefaultTransform = nil // the topology controller needs managedFields

	priorityQueue := feature.Gates.Enabled(feature.PriorityQueue)
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme: scheme,
		Controller: config.Controller{
			UsePriorityQueue: &priorityQueue,
			CacheSyncTimeout: 5 * time.Minute,
		},
		// One process per sandbox: no leader election, so an outage
		// of the management API does not end the program.
		LeaderElection:         false,
		HealthProbeBindAddress: o.healthAddr,
		Metrics:                metricsserver.Options{BindAddress: o.metricsAddr},
		Cache:                  cacheOptions,
		Client:                 bootstrapsetup.ManagerClientOptions(),
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: o.bindAddress, Port: o.webhookPort, CertDir: o.webhookCertDir,
		}),
	})
	must(err, "manager")
	if o.clusterAPI {
		must(mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()), "ready check")
		must(mgr.AddHealthzCheck("webhook", mgr.GetWebhookServer().StartedChecker()), "health check")
	}
	return mgr
}

// must ends the program with a line that names the failure.
func must(err error, what string) {
	if err != nil {
		klog.ErrorS(err, "Fatal: "+what)
		klog.Flush()
		os.Exit(1)
	}
}
