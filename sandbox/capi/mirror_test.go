// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api/test/infrastructure/docker/api/v1beta2"
)

// mirrorOf reconciles the OpenStackCluster "c" of a DevCluster "c" and returns
// it.
func mirrorOf(t *testing.T, marked bool, provisioned *bool, conditions ...metav1.Condition) *unstructured.Unstructured {
	t.Helper()
	s := testScheme()
	if err := addDockerTypes(s); err != nil {
		t.Fatal(err)
	}
	o := newObject(openStackCluster)
	o.SetNamespace(namespace)
	o.SetName("c")
	if marked {
		o.SetAnnotations(map[string]string{mirrorNote: "DevCluster"})
	}
	cluster := &infrav1.DevCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}}
	cluster.Status.Initialization.Provisioned = provisioned
	cluster.Status.Conditions = conditions
	c := fake.NewClientBuilder().WithScheme(s).WithObjects(o, cluster).
		WithStatusSubresource(newObject(openStackCluster)).Build()
	if _, err := (&mirrors{client: c}).Reconcile(context.Background(), ctrl.Request{NamespacedName: key("c")}); err != nil {
		t.Fatal(err)
	}
	return get(t, c, openStackCluster, "c")
}

func readyOf(o *unstructured.Unstructured) (bool, map[string]any) {
	ready, _, _ := unstructured.NestedBool(o.Object, "status", "ready")
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	if len(list) != 1 {
		return ready, nil
	}
	return ready, list[0].(map[string]any)
}

func TestAMirrorIsReadyAsItsDevClusterIs(t *testing.T) {
	yes := true
	ready, condition := readyOf(mirrorOf(t, true, &yes, metav1.Condition{Type: infrav1.DevClusterReadyCondition, Status: metav1.ConditionTrue}))
	check(t, "ready", ready, true)
	check(t, "condition", condition["status"], any("True"))
}

func TestAMirrorSaysWhyItsDevClusterIsNotReady(t *testing.T) {
	ready, condition := readyOf(mirrorOf(t, true, nil, metav1.Condition{Type: infrav1.DevClusterReadyCondition,
		Status: metav1.ConditionFalse, Reason: "NotReady", Message: "Failed to create load balancer: no such image"}))
	check(t, "ready", ready, false)
	check(t, "condition", condition["status"], any("False"))
	check(t, "message", condition["message"], any("Failed to create load balancer: no such image"))
}

func TestAnOpenStackClusterWithoutTheMarkIsNoMirror(t *testing.T) {
	yes := true
	o := mirrorOf(t, false, &yes)
	_, reported := o.Object["status"]
	check(t, "status", reported, false)
}
