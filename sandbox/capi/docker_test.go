// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/infrastructure/container"
	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
)

// engineWithout is a container engine that has no image.
type engineWithout struct {
	container.Runtime
	said string
}

func (e *engineWithout) RunContainer(context.Context, *container.RunContainerInput, io.Writer) error {
	return errors.New(e.said)
}

func TestAMachineWithoutAnImageSaysSo(t *testing.T) {
	s := testScheme()
	if err := addDockerTypes(s); err != nil {
		t.Fatal(err)
	}
	machine := func(name string) *infrav1.DevMachine {
		return &infrav1.DevMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
			Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
	}
	c := fake.NewClientBuilder().WithScheme(s).WithObjects(machine("c-1"), machine("pool-1"), machine("pool-2")).
		WithStatusSubresource(&infrav1.DevMachine{}).Build()
	engine := &engineWithout{said: "no such image"}
	runtime := labelled{Runtime: engine, owner: "o", client: c}
	message := func(name string) string {
		m := &infrav1.DevMachine{}
		if err := c.Get(t.Context(), key(name), m); err != nil {
			t.Fatal(err)
		}
		return conditions.GetMessage(m, infrav1.DevMachineDockerContainerProvisionedCondition)
	}
	run := func(name string) {
		if err := runtime.RunContainer(t.Context(), &container.RunContainerInput{Name: name, Image: "kindest/node:v1.35.0",
			Labels: map[string]string{kindCluster: "c"}}, nil); err == nil {
			t.Error("the error is lost")
		}
	}

	run("c-1")
	run("c-pool-1")
	run("c-lb") // of no machine

	want := "No container can be made from the image kindest/node:v1.35.0: no such image"
	check(t, "name that begins with the cluster's", message("c-1"), want)
	check(t, "another name", message("pool-1"), want)
	check(t, "another machine", message("pool-2"), "")

	engine.said = "no such image, again"
	run("c-1")
	check(t, "the first message stays", message("c-1"), want)
}
