// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
)

func members(t *testing.T, w *workloads, cluster string) (pods []corev1.Pod, leaders int) {
	t.Helper()
	pods, err := w.etcdMembers(context.Background(), key(cluster))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods {
		if isEtcdLeader(&p) {
			leaders++
		}
	}
	return pods, leaders
}

func TestMembersThatComeBackAtOnceAgreeOnOneLeader(t *testing.T) {
	// given a cluster whose content was lost with the process
	w, ctx := testWorkloads(t, nil), context.Background()
	if err := w.create(ctx, key("c")); err != nil {
		t.Fatal(err)
	}
	// when all its members join at the same time, and again
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			if err := w.joinEtcd(ctx, key("c"), fmt.Sprint("m", i%5)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// then there are five members of one cluster with one leader
	pods, leaders := members(t, w, "c")
	check(t, "members", len(pods), 5)
	check(t, "leaders", leaders, 1)
	ids := map[string]bool{}
	for _, p := range pods {
		ids[p.Annotations[cloudv1.EtcdMemberIDAnnotationName]] = true
		check(t, "cluster id", p.Annotations[cloudv1.EtcdClusterIDAnnotationName], etcdID(key("c").String()))
	}
	check(t, "member ids", len(ids), 5)
}

func TestARemovedMemberDoesNotJoinAgain(t *testing.T) {
	w, ctx := testWorkloads(t, nil), context.Background()
	_ = w.create(ctx, key("c"))
	_ = w.joinEtcd(ctx, key("c"), "m1")
	_ = w.joinEtcd(ctx, key("c"), "m2")
	// given a member that the control plane provider has removed
	pods, _ := members(t, w, "c")
	for i := range pods {
		if pods[i].Spec.NodeName == "m2" {
			pods[i].Annotations[cloudv1.EtcdMemberRemoved] = ""
			if err := w.client(key("c")).Update(ctx, &pods[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	// when its machine is reconciled once more
	if err := w.joinEtcd(ctx, key("c"), "m2"); err != nil {
		t.Fatal(err)
	}
	// then it stays removed
	pods, _ = members(t, w, "c")
	check(t, "members", len(pods), 1)
}

func TestTheLeadPassesOnWhenTheLeaderVanishes(t *testing.T) {
	w, ctx := testWorkloads(t, nil), context.Background()
	_ = w.create(ctx, key("c"))
	_ = w.joinEtcd(ctx, key("c"), "m1")
	_ = w.joinEtcd(ctx, key("c"), "m2")
	if err := w.removeMachine(ctx, key("c"), "m1"); err != nil {
		t.Fatal(err)
	}
	pods, leaders := members(t, w, "c")
	check(t, "members", len(pods), 1)
	check(t, "leaders", leaders, 1)
}

func TestNothingIsLeftOfAMachineWhoseClusterIsGone(t *testing.T) {
	w := testWorkloads(t, nil)
	if err := w.removeMachine(context.Background(), key("never-was"), "m1"); err != nil {
		t.Error(err)
	}
}
