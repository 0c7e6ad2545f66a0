// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	kubeletapis "k8s.io/kubelet/pkg/apis"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/cluster-api/util"
)

var controlPlaneComponents = []string{"etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"}

// Ready conditions of a node, in the words of kubelet and node lifecycle
// controller.
var (
	kubeletReady = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
		Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	waitsForCNI = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Reason: "KubeletNotReady",
		Message: "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady " +
			"message:Network plugin returns error: cni plugin not initialized"}
	kubeletGone = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown,
		Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}
)

// ensure creates an object of a workload cluster if it does not exist.
func ensure(ctx context.Context, c inmemoryruntime.Client, o client.Object) error {
	if err := c.Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// join does what kubeadm and the kubelet on a machine do to the cluster: the
// control plane's pods and objects, its API server, and the node.
func (r *openStackMachines) join(ctx context.Context, cluster *clusterv1.Cluster, machine *clusterv1.Machine, o *unstructured.Unstructured, address string) error {
	key := client.ObjectKeyFromObject(cluster)
	if err := r.workloads.create(ctx, key); err != nil {
		return err
	}
	registration, err := r.nodeRegistration(ctx, machine)
	if err != nil {
		return err
	}
	k := kubelet{
		name: o.GetName(), providerID: nested(o, "spec", "providerID"), version: machine.Spec.Version,
		address: address, flavor: nested(o, "spec", "flavor"), cpus: 2, memoryMiB: 4096,
		controlPlane: util.IsControlPlaneMachine(machine), registration: registration,
	}
	// The cloud controller manager sets the same as CAPO, unless the kubelet does.
	for _, id := range kubeletArg(registration, "provider-id") {
		if k.providerID, err = fill(id, instanceData(nested(o, "status", "instanceID"), o.GetName(), address)); err != nil {
			return err
		}
	}
	if err := k.starts(); err != nil { // which CAPO does not see
		klog.ErrorS(err, "The kubelet does not start", "machine", client.ObjectKeyFromObject(o))
		return nil
	}
	if err := r.workloads.join(ctx, key, k); err != nil || !k.controlPlane {
		return err
	}
	return r.workloads.serve(ctx, key, cluster.Spec.ControlPlaneEndpoint.Host, cluster.Spec.ControlPlaneEndpoint.Port,
		r.workloads.authorities(key))
}

// kubelet is what a machine reports about itself when it joins its cluster.
type kubelet struct {
	name, providerID, version, address, flavor string
	cpus, memoryMiB                            int64
	controlPlane                               bool
	registration                               bootstrapv1.NodeRegistrationOptions
}

// starts returns why a kubelet would end at its start: labels that it may not
// give its own node (ValidateKubeletFlags in cmd/kubelet/app/options of
// Kubernetes).
func (k kubelet) starts() error {
	var refused []string
	for name := range nodeLabels(k.registration) {
		prefix, _, _ := strings.Cut(name, "/")
		reserved := "." + prefix
		if (strings.HasSuffix(reserved, ".kubernetes.io") || strings.HasSuffix(reserved, ".k8s.io")) && !kubeletapis.IsKubeletLabel(name) {
			refused = append(refused, name)
		}
	}
	if refused == nil {
		return nil
	}
	slices.Sort(refused)
	return fmt.Errorf("kubelet: unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: %v", refused)
}

// join adds a node to a cluster and, for a control plane, its pods and kubeadm's
// objects.
func (w *workloads) join(ctx context.Context, cluster client.ObjectKey, k kubelet) error {
	c := w.client(cluster)
	if !k.controlPlane {
		return w.register(ctx, cluster, k)
	}
	if err := w.joinEtcd(ctx, cluster, k.name); err != nil {
		return err
	}
	objects := kubeadmObjects(k.version)
	for _, component := range controlPlaneComponents[1:] {
		objects = append(objects, controlPlanePod(component, k.name))
	}
	for _, obj := range objects {
		if err := ensure(ctx, c, obj); err != nil {
			return err
		}
	}
	return w.register(ctx, cluster, k)
}

// register adds the node of a kubelet, once: a kubelet registers its node when
// it starts, and not again if the node is deleted (registerWithAPIServer in
// pkg/kubelet/kubelet_node_status.go of Kubernetes).
func (w *workloads) register(ctx context.Context, cluster client.ObjectKey, k kubelet) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.registered[cluster].Has(k.name) {
		return nil
	}
	if err := ensure(ctx, w.client(cluster), newNode(k)); err != nil {
		return err
	}
	if w.registered[cluster] == nil {
		w.registered[cluster] = sets.New[string]()
	}
	w.registered[cluster].Insert(k.name)
	return nil
}

// stopKubelet stops the kubelet of a node, until its machine joins again.
func (w *workloads) stopKubelet(ctx context.Context, cluster client.ObjectKey, name string) error {
	w.forgetKubelet(cluster, name)
	return w.setNode(ctx, cluster, name, kubeletGone)
}

func (w *workloads) forgetKubelet(cluster client.ObjectKey, name string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.registered[cluster].Delete(name)
}

// nodeRegistration returns the kubeadm options of a machine's node. The first
// machine of a cluster has both kinds of configuration, and kubeadm init reads
// the first; all others only have a join configuration.
func (r *openStackMachines) nodeRegistration(ctx context.Context, machine *clusterv1.Machine) (bootstrapv1.NodeRegistrationOptions, error) {
	config := &bootstrapv1.KubeadmConfig{}
	ref := machine.Spec.Bootstrap.ConfigRef
	if ref.Kind != "KubeadmConfig" {
		return bootstrapv1.NodeRegistrationOptions{}, nil
	}
	err := r.client.Get(ctx, client.ObjectKey{Namespace: machine.Namespace, Name: ref.Name}, config)
	if err != nil {
		return bootstrapv1.NodeRegistrationOptions{}, client.IgnoreNotFound(err)
	}
	if config.Spec.ClusterConfiguration.IsDefined() && config.Spec.InitConfiguration.IsDefined() {
		return config.Spec.InitConfiguration.NodeRegistration, nil
	}
	return config.Spec.JoinConfiguration.NodeRegistration, nil
}

// newNode returns the node of a machine, as the kubelet registers it.
func newNode(k kubelet) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(k.cpus, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(k.memoryMiB<<20, resource.BinarySI),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: k.name, Labels: map[string]string{
			corev1.LabelHostname: k.name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Spec: corev1.NodeSpec{ProviderID: k.providerID},
		Status: corev1.NodeStatus{
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: k.version, KubeProxyVersion: k.version,
				OperatingSystem: "linux", Architecture: "amd64", OSImage: "in-memory", ContainerRuntimeVersion: "containerd://in-memory"},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: k.address}, {Type: corev1.NodeHostName, Address: k.name}},
			Capacity:  capacity, Allocatable: capacity,
		},
	}
	if k.flavor != "" {
		node.Labels[corev1.LabelInstanceTypeStable] = k.flavor
	}
	for name, value := range nodeLabels(k.registration) {
		node.Labels[name] = value
	}
	for _, t := range []corev1.NodeConditionType{corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure} {
		node.Status.Conditions = append(node.Status.Conditions,
			corev1.NodeCondition{Type: t, Status: corev1.ConditionFalse, Reason: "InMemory", LastTransitionTime: metav1.Now()})
	}
	ready := waitsForCNI
	ready.LastTransitionTime = metav1.Now()
	node.Status.Conditions = append(node.Status.Conditions, ready)

	if k.controlPlane {
		node.Labels["node-role.kubernetes.io/control-plane"] = ""
		node.Labels[corev1.LabelNodeExcludeBalancers] = ""
		// For kubeadm no list means this taint, an empty list means none.
		node.Spec.Taints = []corev1.Taint{{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}}
	}
	if k.registration.Taints != nil {
		node.Spec.Taints = *k.registration.Taints
	}
	return node
}

// nodeLabels returns the labels in the kubelet argument node-labels.
func nodeLabels(registration bootstrapv1.NodeRegistrationOptions) map[string]string {
	labels := map[string]string{}
	for _, value := range kubeletArg(registration, "node-labels") {
		for _, pair := range strings.Split(value, ",") {
			if k, v, _ := strings.Cut(strings.TrimSpace(pair), "="); k != "" {
				labels[k] = v
			}
		}
	}
	return labels
}

// kubeletArg returns the values of an argument of the kubelet.
func kubeletArg(registration bootstrapv1.NodeRegistrationOptions, name string) (values []string) {
	for _, a := range registration.KubeletExtraArgs {
		if a.Name == name && a.Value != nil {
			values = append(values, *a.Value)
		}
	}
	return values
}

// kubeadmObjects returns the objects that kubeadm leaves in a cluster and that
// the control plane provider reads.
func kubeadmObjects(version string) []client.Object {
	system := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}
	}
	getNodes := metav1.ObjectMeta{Name: "kubeadm:get-nodes"}
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: getNodes, Rules: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes"}}}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: getNodes,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: getNodes.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, Name: "system:bootstrappers:kubeadm:default-node-token"}}},
		&corev1.ConfigMap{ObjectMeta: system("kubeadm-config"), Data: map[string]string{"ClusterConfiguration": ""}},
		&corev1.ConfigMap{ObjectMeta: system("coredns"), Data: map[string]string{"Corefile": ".:53 {\n}\n"}},
		&appsv1.DaemonSet{ObjectMeta: system("kube-proxy"),
			Spec: appsv1.DaemonSetSpec{Template: podTemplate("kube-proxy", "registry.k8s.io/kube-proxy:"+version)}},
		&appsv1.Deployment{ObjectMeta: system("coredns"),
			Spec: appsv1.DeploymentSpec{Template: podTemplate("coredns", "registry.k8s.io/coredns/coredns:v1.10.1")}},
	}
}

func podTemplate(name, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}}}
}

func controlPlanePod(component, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: component + "-" + node,
			Labels: map[string]string{"component": component, "tier": "control-plane"}},
		Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{Phase: corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

// setNode sets the Ready condition of a node, if the node exists.
func (w *workloads) setNode(ctx context.Context, cluster client.ObjectKey, name string, ready corev1.NodeCondition) error {
	c, node := w.client(cluster), &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return ignoreGone(err)
	}
	i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == ready.Type })
	if i < 0 {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: ready.Type})
		i = len(node.Status.Conditions) - 1
	}
	if old := node.Status.Conditions[i]; old.Status == ready.Status && old.Reason == ready.Reason {
		return nil
	}
	ready.LastTransitionTime = metav1.Now()
	node.Status.Conditions[i] = ready
	return c.Update(ctx, node)
}

// removeMachine deletes the objects of a machine from a workload cluster.
func (w *workloads) removeMachine(ctx context.Context, cluster client.ObjectKey, name string) error {
	w.forgetKubelet(cluster, name)
	if err := w.leaveEtcd(ctx, cluster, name); err != nil {
		return err
	}
	objects := []client.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}}
	for _, component := range controlPlaneComponents {
		objects = append(objects, controlPlanePod(component, name))
	}
	for _, o := range objects {
		if err := ignoreGone(w.client(cluster).Delete(ctx, o)); err != nil {
			return err
		}
	}
	return nil
}

// ignoreGone ignores missing objects. If the whole cluster is gone, the in-memory
// API answers BadRequest "resourceGroup ... does not exist".
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) {
		return nil
	}
	return err
}
