// SPDX-License-Identifier: Apache-2.0

// Command openstack-providers runs Cluster API Provider OpenStack for a
// management cluster of plain processes: the released controllers and
// webhooks, all of them, unmodified.
//
// The webhook server of the release's own program (which images for pods use)
// listens on all addresses of the machine, and no flag changes that. This is
// its main.go with an address, and without parts that a sandbox does not need
// (leader election, metrics, migration of old objects).
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
	infrav1alpha1 "sigs.k8s.io/cluster-api-provider-openstack/api/v1alpha1"
	infrav1 "sigs.k8s.io/cluster-api-provider-openstack/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-openstack/controllers"
	"sigs.k8s.io/cluster-api-provider-openstack/feature"
	"sigs.k8s.io/cluster-api-provider-openstack/pkg/record"
	"sigs.k8s.io/cluster-api-provider-openstack/pkg/scope"
	"sigs.k8s.io/cluster-api-provider-openstack/pkg/webhooks"
	"sigs.k8s.io/cluster-api-provider-openstack/version"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Defaults of the release that no flag here changes.
const (
	concurrency = 10
	syncPeriod  = 10 * time.Minute
	scopeCache  = 10 // credentials that are kept signed in
)

type options struct {
	bindAddress    string
	webhookPort    int
	webhookCertDir string
	healthAddr     string
	caCerts        string
}

func main() {
	o, lo := &options{}, logs.NewOptions()
	fs := pflag.CommandLine
	logsv1.AddFlags(lo, fs)
	fs.StringVar(&o.bindAddress, "bind-address", "127.0.0.1", "loopback address of the webhook server")
	fs.IntVar(&o.webhookPort, "webhook-port", 9443, "port of the webhook server")
	fs.StringVar(&o.webhookCertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key of the webhook server")
	fs.StringVar(&o.healthAddr, "health-addr", "127.0.0.1:9440", "loopback address and port of /healthz and /readyz")
	fs.StringVar(&o.caCerts, "ca-certs", "", "PEM file of the authorities of OpenStack's endpoints, for clouds that name none")
	feature.MutableGates.AddFlag(fs)
	fs.AddGoFlagSet(flag.CommandLine) // --kubeconfig
	pflag.Parse()
	must(logsv1.ValidateAndApply(lo, nil), "logging options")
	must(o.check(), "options")
	ctrl.SetLogger(klog.Background())
	must(run(ctrl.SetupSignalHandler(), o), "manager")
}

// check refuses addresses that another machine could reach.
func (o *options) check() error {
	host, _, err := net.SplitHostPort(o.healthAddr)
	if err != nil {
		return fmt.Errorf("--health-addr: %w", err)
	}
	for name, address := range map[string]string{"--bind-address": o.bindAddress, "--health-addr": host} {
		if ip, err := netip.ParseAddr(address); err != nil || !ip.IsLoopback() {
			return fmt.Errorf("%s: %q is not a loopback address, use one of 127.0.0.0/8 or ::1", name, address)
		}
	}
	return nil
}

func run(ctx context.Context, o *options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// The release limits requests to its API server, which many programs
	// share, to 20 per second. This API server is not shared.
	config.QPS, config.Burst = 200, 400
	var caCerts []byte
	if o.caCerts != "" {
		if caCerts, err = os.ReadFile(o.caCerts); err != nil {
			return err
		}
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, clientgoscheme.AddToScheme, clusterv1.AddToScheme, ipamv1.AddToScheme,
		infrav1.AddToScheme, infrav1alpha1.AddToScheme, orcv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	period := syncPeriod
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{SyncPeriod: &period},
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor: []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}},
		}},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: o.bindAddress, Port: o.webhookPort, CertDir: o.webhookCertDir,
		}),
		HealthProbeBindAddress: o.healthAddr,
	})
	if err != nil {
		return err
	}
	record.InitFromRecorder(mgr.GetEventRecorderFor("openstack-controller")) //nolint:staticcheck // as the release
	if err := mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	if err := addControllers(ctx, mgr, caCerts); err != nil {
		return err
	}
	for _, err := range webhooks.RegisterAllWithManager(mgr) {
		return err
	}
	klog.InfoS("Starting", "clusterAPIProviderOpenStack", version.Get().String())
	return mgr.Start(ctx)
}

func addControllers(ctx context.Context, mgr ctrl.Manager, caCerts []byte) error {
	c, factory := mgr.GetClient(), scope.NewFactory(scopeCache)
	options := controller.Options{MaxConcurrentReconciles: concurrency}
	if err := (&controllers.OpenStackClusterReconciler{
		Client: c, Recorder: mgr.GetEventRecorderFor("openstackcluster-controller"),
		ScopeFactory: factory, CaCertificates: caCerts,
	}).SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("controller OpenStackCluster: %w", err)
	}
	if err := (&controllers.OpenStackMachineReconciler{
		Client: c, Recorder: mgr.GetEventRecorderFor("openstackmachine-controller"),
		ScopeFactory: factory, CaCertificates: caCerts,
	}).SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("controller OpenStackMachine: %w", err)
	}
	if err := (&controllers.OpenStackFloatingIPPoolReconciler{
		Client: c, Recorder: mgr.GetEventRecorderFor("floatingippool-controller"),
		ScopeFactory: factory, Scheme: mgr.GetScheme(), CaCertificates: caCerts,
	}).SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("controller OpenStackFloatingIPPool: %w", err)
	}
	if err := (&controllers.OpenStackServerReconciler{
		Client: c, Recorder: mgr.GetEventRecorderFor("openstackserver-controller"),
		ScopeFactory: factory, Scheme: mgr.GetScheme(), CaCertificates: caCerts,
	}).SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("controller OpenStackServer: %w", err)
	}
	if !feature.Gates.Enabled(feature.AutoScaleFromZero) {
		return nil
	}
	if err := (&controllers.OpenStackMachineTemplateReconciler{
		Client: c, Recorder: mgr.GetEventRecorderFor("openstackmachinetemplate-controller"),
		ScopeFactory: factory, CaCertificates: caCerts,
	}).SetupWithManager(ctx, mgr, options); err != nil {
		return fmt.Errorf("controller OpenStackMachineTemplate: %w", err)
	}
	return nil
}

// must ends the program with a line that names the failure.
func must(err error, what string) {
	if err != nil {
		klog.ErrorS(err, "Fatal: "+what)
		klog.Flush()
		os.Exit(1)
	}
}
