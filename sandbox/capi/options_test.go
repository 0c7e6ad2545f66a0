// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestOnlyLoopbackAddressesAreListenedOn(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1": true, "127.77.0.9": true, "::1": true,
		"0.0.0.0": false, "::": false, "192.0.2.1": false, "": false, "localhost": false,
	} {
		check(t, address, checkLoopback("--bind-address", address) == nil, ok)
	}
}

func TestAHealthAddressWithoutHostIsRefused(t *testing.T) {
	// ":9440" would be every address of the machine.
	if err := checkLoopbackPort("--health-addr", ":9440"); err == nil {
		t.Error("accepted")
	}
}

func TestWorkloadNetwork(t *testing.T) {
	for cidr, problem := range map[string]string{
		"127.77.0.0/16":  "",
		"127.0.0.0/8":    "",
		"127.77.2.0/23":  "",
		"127.77.2.0/24":  "too small",
		"127.77.0.1/16":  "did you mean 127.77.0.0/16",
		"10.0.0.0/16":    "not inside 127.0.0.0/8",
		"126.0.0.0/7":    "not inside",
		"127.77.0.0":     "not a network",
		"::ffff:7f00::1": "not a network",
	} {
		_, err := parseWorkloadNetwork(cidr)
		switch {
		case problem == "" && err != nil:
			t.Errorf("%s: %v", cidr, err)
		case problem != "" && (err == nil || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s: got %v, want %q in it", cidr, err, problem)
		}
	}
}

func TestContainersAreOnlyInAnEngineOfThisMachine(t *testing.T) {
	for host, problem := range map[string]string{
		"unix:///run/magnum-capi/docker.sock": "",
		"":                                    "needs DOCKER_HOST",
		"tcp://192.0.2.1:2375":                "not a socket of this machine",
		"ssh://somebody@192.0.2.1":            "not a socket of this machine",
	} {
		err := checkDockerHost(host)
		switch {
		case problem == "" && err != nil:
			t.Errorf("%s: %v", host, err)
		case problem != "" && (err == nil || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s: got %v, want %q in it", host, err, problem)
		}
	}
}

func TestWithoutClusterAPIOnlyServersAreContainers(t *testing.T) {
	o := &options{bindAddress: "127.0.0.1", healthAddr: "127.0.0.1:1", metricsAddr: "0", workloadCIDR: "127.77.0.0/16",
		endpointCIDR: "203.0.113.0/28", concurrency: 1}
	if err := o.complete(); err == nil || !strings.Contains(err.Error(), "--cluster-api=false") {
		t.Errorf("got %v", err)
	}
	o.clusterAPI = true
	if err := o.complete(); err != nil {
		t.Error(err)
	}
}
