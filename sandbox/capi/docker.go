// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	infrawebhooks "sigs.k8s.io/cluster-api/test/infrastructure/docker/webhooks"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
)

// docker adds DevCluster and DevMachine of Cluster API's test provider, like its
// infrastructure/docker/main.go, but only with their docker backend. The
// machines are containers in which kubeadm makes real nodes.
//
// The in-memory backend is not served: its multiplexer would listen on all
// addresses. The reconcilers require one, but only that backend uses it.
func (p *providers) docker(ctx context.Context) {
	engine, err := container.NewDockerClient()
	must(err, "container engine")
	containers := labelled{engine, p.options.dockerOwner}
	inMemory := inmemoryruntime.NewManager(newWorkloadScheme())
	none := &inmemoryserver.WorkloadClustersMux{}

	clusters := &controllers.DevClusterReconciler{
		Client: p.client, ContainerRuntime: containers, InMemoryManager: inMemory, APIServerMux: none,
	}
	must(clusters.SetupWithManager(ctx, p.mgr, p.controllerOptions()), "controller DevCluster")

	// kubeadm runs within a reconciliation; this is upstream's timeout.
	o := p.controllerOptions()
	o.ReconciliationTimeout = 5 * time.Minute
	machines := &controllers.DevMachineReconciler{
		Client: p.client, ContainerRuntime: containers, ClusterCache: p.clusterCache,
		InMemoryManager: inMemory, APIServerMux: none,
	}
	must(machines.SetupWithManager(ctx, p.mgr, o), "controller DevMachine")

	p.webhooks(&infrawebhooks.DevCluster{}, &infrawebhooks.DevClusterTemplate{},
		&infrawebhooks.DevMachine{}, &infrawebhooks.DevMachineTemplate{})
	p.mirrors(ctx)
}

// labelled gives all containers that it runs their owner's label.
type labelled struct {
	container.Runtime
	owner string
}

func (o labelled) RunContainer(ctx context.Context, input *container.RunContainerInput, output io.Writer) error {
	labels := map[string]string{ownerLabel: o.owner}
	maps.Copy(labels, input.Labels)
	input.Labels = labels
	return o.Runtime.RunContainer(ctx, input, output)
}

// addDockerTypes adds the kinds of the test provider in both versions, which the
// conversion webhook needs.
func addDockerTypes(s *runtime.Scheme) error {
	return errors.Join(infrav1beta1.AddToScheme(s), infrav1.AddToScheme(s))
}

// checkDockerHost only accepts an engine on a socket of this machine. Without
// DOCKER_HOST the containers would run in the user's own engine.
func checkDockerHost(host string) error {
	if host == "" {
		return errors.New("--docker-owner needs DOCKER_HOST, the container engine to use (unix:///path/of/its.sock)")
	}
	if !strings.HasPrefix(host, "unix:///") {
		return fmt.Errorf("DOCKER_HOST: %s is not a socket of this machine (unix:///path/of/its.sock)", host)
	}
	return nil
}
