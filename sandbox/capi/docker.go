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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	infrav1beta1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta1"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	"sigs.k8s.io/cluster-api/test/infrastructure/docker/controllers"
	infrawebhooks "sigs.k8s.io/cluster-api/test/infrastructure/docker/webhooks"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	"sigs.k8s.io/cluster-api/util/conditions"
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
	containers := labelled{engine, p.options.dockerOwner, p.client}
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

// kindCluster is the label of a container with the name of its cluster.
const kindCluster = "io.x-k8s.kind.cluster"

// labelled gives all containers that it runs their owner's label, and tells the
// machines of those that it cannot run.
type labelled struct {
	container.Runtime
	owner  string
	client client.Client
}

func (o labelled) RunContainer(ctx context.Context, input *container.RunContainerInput, output io.Writer) error {
	labels := map[string]string{ownerLabel: o.owner}
	maps.Copy(labels, input.Labels)
	input.Labels = labels
	err := o.Runtime.RunContainer(ctx, input, output)
	if err != nil {
		if terr := o.tell(context.WithoutCancel(ctx), input, err); terr != nil {
			ctrl.LoggerFrom(ctx).Error(terr, "Condition of a DevMachine", "container", input.Name)
		}
	}
	return err
}

// tell writes into a DevMachine why it has no container, such as an image that
// the engine neither has nor can pull. Upstream only logs that (reconcileContainer
// in dockermachine_backend.go) and keeps the condition, so that Ready repeats it,
// and the Machine's InfrastructureReady that.
//
// The first message stays: one that differs each time would wake the controller.
func (o labelled) tell(ctx context.Context, input *container.RunContainerInput, why error) error {
	cluster := input.Labels[kindCluster]
	said := fmt.Sprintf("No container can be made from the image %s: ", input.Image)
	l := &infrav1.DevMachineList{}
	if err := o.client.List(ctx, l, client.MatchingLabels{clusterv1.ClusterNameLabel: cluster}); err != nil {
		return err
	}
	for i := range l.Items {
		m := &l.Items[i]
		// MachineContainerName in internal/docker/util.go of the provider.
		if m.Name != input.Name && cluster+"-"+m.Name != input.Name ||
			strings.HasPrefix(conditions.GetMessage(m, infrav1.DevMachineDockerContainerProvisionedCondition), said) {
			continue
		}
		before := m.DeepCopy()
		conditions.Set(m, metav1.Condition{Type: infrav1.DevMachineDockerContainerProvisionedCondition, Status: metav1.ConditionFalse,
			Reason: infrav1.DevMachineDockerContainerNotProvisionedReason, Message: said + why.Error()})
		if err := o.client.Status().Patch(ctx, m, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return err
		}
	}
	return nil
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
