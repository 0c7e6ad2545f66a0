// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
)

// Cluster API's in-memory etcd server has no state of its own: annotations of
// the etcd pods define members and leader (its package
// inmemory/pkg/server/etcd). The leader is the member with the latest
// leader-from annotation.

// joinEtcd creates the etcd pod of a machine as a member of the cluster's etcd,
// unless it exists. One at a time: after a restart all members of a cluster
// come back at once, and they must agree on one leader.
func (w *workloads) joinEtcd(ctx context.Context, cluster client.ObjectKey, machine string) error {
	w.etcdLock.Lock()
	defer w.etcdLock.Unlock()
	c, pod := w.client(cluster), controlPlanePod("etcd", machine)
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err == nil || !apierrors.IsNotFound(err) {
		return err // also a removed member stays as it is until its machine goes
	}
	members, err := w.etcdMembers(ctx, cluster)
	if err != nil {
		return err
	}
	leader := false
	for _, m := range members {
		leader = leader || isEtcdLeader(&m)
	}
	pod.Annotations = map[string]string{
		cloudv1.EtcdClusterIDAnnotationName: etcdID(cluster.String()),
		cloudv1.EtcdMemberIDAnnotationName:  etcdID(cluster.String(), machine),
	}
	if !leader {
		lead(pod)
	}
	return ensure(ctx, c, pod)
}

// leaveEtcd makes another member the leader if the leader's machine goes away.
// The control plane provider does that in time, unless the machine vanishes.
func (w *workloads) leaveEtcd(ctx context.Context, cluster client.ObjectKey, machine string) error {
	w.etcdLock.Lock()
	defer w.etcdLock.Unlock()
	members, err := w.etcdMembers(ctx, cluster)
	if err != nil {
		return ignoreGone(err)
	}
	var other *corev1.Pod
	leads, ledByOther := false, false
	for i := range members {
		m := &members[i]
		switch {
		case m.Spec.NodeName == machine:
			leads = isEtcdLeader(m)
		default:
			other = m
			ledByOther = ledByOther || isEtcdLeader(m)
		}
	}
	if !leads || ledByOther || other == nil {
		return nil
	}
	lead(other)
	return w.client(cluster).Update(ctx, other)
}

func (w *workloads) etcdMembers(ctx context.Context, cluster client.ObjectKey) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := w.client(cluster).List(ctx, pods, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": "etcd"}); err != nil {
		return nil, err
	}
	var members []corev1.Pod
	for _, p := range pods.Items {
		if _, removed := p.Annotations[cloudv1.EtcdMemberRemoved]; !removed {
			members = append(members, p)
		}
	}
	return members, nil
}

func isEtcdLeader(pod *corev1.Pod) bool {
	return pod.Annotations[cloudv1.EtcdLeaderFromAnnotationName] != ""
}

func lead(pod *corev1.Pod) {
	pod.Annotations[cloudv1.EtcdLeaderFromAnnotationName] = time.Now().Format(time.RFC3339)
}

// etcdID returns an id that survives a restart; 0 means "no member".
func etcdID(parts ...string) string {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%q", parts)
	return fmt.Sprint(h.Sum32() | 1)
}
