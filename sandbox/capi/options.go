// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"

	"sigs.k8s.io/cluster-api/feature"
)

// options are the command line options.
type options struct {
	bindAddress     string
	webhookPort     int
	webhookCertDir  string
	healthAddr      string
	metricsAddr     string
	workloadCIDR    string
	behavioursFile  string
	connectionRetry time.Duration
	syncPeriod      time.Duration
	concurrency     int
	dockerOwner     string
	machineSocket   string
	cloudController string
	endpointCIDR    string
	clusterAPI      bool
	servicePorts    []int

	workloadNetwork netip.Prefix // parsed workloadCIDR
	endpointNetwork netip.Prefix // parsed endpointCIDR
	behaviours      behaviours   // content of behavioursFile
}

func parseOptions() *options {
	o, lo := &options{}, logs.NewOptions()
	fs := pflag.CommandLine
	logsv1.AddFlags(lo, fs)
	fs.StringVar(&o.bindAddress, "bind-address", "127.0.0.1",
		"loopback address of the webhook server")
	fs.IntVar(&o.webhookPort, "webhook-port", 9443, "port of the webhook server")
	fs.StringVar(&o.webhookCertDir, "webhook-cert-dir", "",
		"folder with tls.crt and tls.key of the webhook server")
	fs.StringVar(&o.healthAddr, "health-addr", "127.0.0.1:9440",
		"loopback address and port of /healthz and /readyz")
	fs.StringVar(&o.metricsAddr, "metrics-addr", "0",
		"loopback address and port of /metrics, 0 for none")
	fs.StringVar(&o.workloadCIDR, "workload-network", "127.77.0.0/16",
		"network inside 127.0.0.0/8 of the API servers of workload clusters; its first /24 is not used")
	fs.StringVar(&o.behavioursFile, "behaviours", "",
		"JSON file with the delays and faults of flavors")
	fs.DurationVar(&o.connectionRetry, "connection-retry", time.Second,
		"pause after a failed connection to a workload cluster (Cluster API's own default is 30s)")
	fs.DurationVar(&o.syncPeriod, "sync-period", 10*time.Minute, "period of the full resync")
	fs.IntVar(&o.concurrency, "concurrency", 10, "workers of each controller")
	fs.StringVar(&o.dockerOwner, "docker-owner", "",
		"machines are containers in the engine that DOCKER_HOST names, and have this value of the label "+ownerLabel+
			": those of DevMachine, or with --machine-socket those of the service")
	fs.StringVar(&o.machineSocket, "machine-socket", "",
		"unix socket to serve machines on that boot from user data; OpenStackCluster and OpenStackMachine are left to their own provider then")
	fs.StringVar(&o.cloudController, "cloud-controller-manager", "",
		"program openstack-cloud-controller-manager, which runs for each cluster with its addon")
	fs.StringVar(&o.endpointCIDR, "endpoint-network", "198.18.0.0/16",
		"network of the control plane endpoints of machines that boot from user data; needs root")
	fs.BoolVar(&o.clusterAPI, "cluster-api", true,
		"run Cluster API's controllers; without them, as pods of the engine run them, only the machine service and the stand-in for the addon provider run")
	fs.IntSliceVar(&o.servicePorts, "service-ports", nil,
		"ports of --bind-address that pods of the engine and this host also reach at the first address of --endpoint-network")
	feature.MutableGates.AddFlag(fs)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	fs.AddGoFlagSet(flag.CommandLine) // --kubeconfig
	pflag.Parse()
	must(logsv1.ValidateAndApply(lo, nil), "logging options")
	must(o.complete(), "options")
	return o
}

// complete checks the options and reads the files that they name.
func (o *options) complete() error {
	var err error
	if err = checkLoopback("--bind-address", o.bindAddress); err != nil {
		return err
	}
	if err = checkLoopbackPort("--health-addr", o.healthAddr); err != nil {
		return err
	}
	if o.metricsAddr != "0" {
		if err = checkLoopbackPort("--metrics-addr", o.metricsAddr); err != nil {
			return err
		}
	}
	if o.workloadNetwork, err = parseWorkloadNetwork(o.workloadCIDR); err != nil {
		return fmt.Errorf("--workload-network: %w", err)
	}
	if o.concurrency < 1 {
		return fmt.Errorf("--concurrency: %d is less than 1", o.concurrency)
	}
	if o.endpointNetwork, err = parseEndpointNetwork(o.endpointCIDR); err != nil {
		return fmt.Errorf("--endpoint-network: %w", err)
	}
	if o.dockerOwner != "" {
		if err = checkDockerHost(os.Getenv("DOCKER_HOST")); err != nil {
			return err
		}
	}
	if !o.clusterAPI && !(o.dockerOwner != "" && o.machineSocket != "") {
		return errors.New("--cluster-api=false: only the machine service with --docker-owner runs without Cluster API")
	}
	if o.behavioursFile == "" {
		return nil
	}
	if o.behaviours, err = readBehaviours(o.behavioursFile); err != nil {
		return fmt.Errorf("--behaviours: %w", err)
	}
	return nil
}

// checkLoopback refuses every address that another machine could reach: the
// workload clusters hold real credentials without further protection.
func checkLoopback(what, address string) error {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return fmt.Errorf("%s: %q is not an IP address", what, address)
	}
	if !ip.IsLoopback() {
		return fmt.Errorf("%s: %s is not a loopback address, use one of 127.0.0.0/8 or ::1", what, address)
	}
	return nil
}

func checkLoopbackPort(what, address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return checkLoopback(what, host)
}

// parseWorkloadNetwork returns the network of the workload API servers.
func parseWorkloadNetwork(cidr string) (netip.Prefix, error) {
	n, err := netip.ParsePrefix(cidr)
	if err != nil {
		return n, fmt.Errorf("%q is not a network in CIDR notation", cidr)
	}
	if n != n.Masked() {
		return n, fmt.Errorf("%s has host bits set, did you mean %s?", cidr, n.Masked())
	}
	if !n.Addr().Is4() || !n.Addr().IsLoopback() || n.Bits() < 8 {
		return n, fmt.Errorf("%s is not inside 127.0.0.0/8", cidr)
	}
	if n.Bits() > 23 {
		return n, errors.New(cidr + " is too small: its first /24 is reserved, so use a /23 or larger (a /16 is usual)")
	}
	return n, nil
}

// parseEndpointNetwork returns the network of floating IPs and load balancers.
func parseEndpointNetwork(cidr string) (netip.Prefix, error) {
	n, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		return n, fmt.Errorf("%q is not a network in CIDR notation", cidr)
	case n != n.Masked():
		return n, fmt.Errorf("%s has host bits set, did you mean %s?", cidr, n.Masked())
	case !n.Addr().Is4() || n.Bits() < 16 || n.Bits() > 30:
		return n, fmt.Errorf("%s is not an IPv4 network of /16 to /30", cidr)
	case n.Addr().IsLoopback():
		return n, fmt.Errorf("%s is a loopback network, which Neutron refuses", cidr)
	}
	return n, nil
}
