// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
)

// machineCase is one worker of cluster "c" and the reconciler that serves it.
type machineCase struct {
	t      *testing.T
	client client.Client
	r      *openStackMachines
	clock  time.Time
}

const worker = "c-worker-1"

func newMachineCase(t *testing.T, annotations map[string]string, objects ...client.Object) *machineCase {
	t.Helper()
	bootstrapped, value := "data", "a=1,b=2"
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: worker, UID: worker,
		Labels: map[string]string{clusterv1.ClusterNameLabel: "c"}}}
	machine.Spec.ClusterName, machine.Spec.Version = "c", "v1.34.2"
	machine.Spec.Bootstrap.DataSecretName = &bootstrapped
	machine.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: bootstrapv1.GroupVersion.Group, Kind: "KubeadmConfig", Name: worker}
	machine.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: openStackGV.Group, Kind: openStackMachine.Kind, Name: worker}
	config := &bootstrapv1.KubeadmConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: worker}}
	config.Spec.JoinConfiguration.NodeRegistration.KubeletExtraArgs = []bootstrapv1.Arg{{Name: "node-labels", Value: &value}}
	config.Spec.JoinConfiguration.NodeRegistration.Taints = &[]corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}

	o := owned(newObject(openStackMachine), "Machine", worker)
	o.SetName(worker)
	o.SetUID(worker)
	o.SetAnnotations(annotations)
	set(o, "m1.small", "spec", "flavor")
	set(o, false, "status", "ready") // without a status, the fake client makes it null
	m := &machineCase{t: t, clock: instant}
	c := interceptor.NewClient(testClient(append(objects, testCluster("c"), machine, config, o)...), interceptor.Funcs{
		// as a real API server, with this clock
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			o.SetCreationTimestamp(metav1.NewTime(m.clock))
			return c.Create(ctx, o, options...)
		}})
	m.client = c
	m.r = &openStackMachines{client: c, reader: c, workloads: testWorkloads(t, c), now: func() time.Time { return m.clock },
		behaviours: behaviours{"m1.small": {}}}
	return m
}

func deployedCNI(cluster string) client.Object {
	o := newObject(helmRelease)
	o.SetNamespace(namespace)
	o.SetName(cluster + "-cni-calico")
	o.SetLabels(map[string]string{"capi.stackhpc.com/component": "cni-calico"})
	set(o, cluster, "spec", "clusterName")
	set(o, phaseDeployed, "status", "phase")
	return o
}

func (m *machineCase) reconcile() ctrl.Result {
	m.t.Helper()
	result, err := m.r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key(worker)})
	if err != nil {
		m.t.Fatal(err)
	}
	return result
}

func (m *machineCase) field(path ...string) string {
	m.t.Helper()
	return nested(get(m.t, m.client, openStackMachine, worker), path...)
}

// server is the OpenStackServer of the worker, nil if there is none.
func (m *machineCase) server() *unstructured.Unstructured {
	m.t.Helper()
	o := newObject(openStackServer)
	err := m.client.Get(context.Background(), key(worker), o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return o
}

// state is the state of the worker's instance, "" if there is none.
func (m *machineCase) state() string {
	m.t.Helper()
	if o := m.server(); o != nil {
		return nested(o, "status", "instanceState")
	}
	return ""
}

func (m *machineCase) ready() bool {
	m.t.Helper()
	b, _, _ := unstructured.NestedBool(get(m.t, m.client, openStackMachine, worker).Object, "status", "ready")
	return b
}

// node returns the node in the workload cluster, nil if there is none.
func (m *machineCase) node() *corev1.Node {
	m.t.Helper()
	n := &corev1.Node{}
	err := m.r.workloads.client(key("c")).Get(context.Background(), client.ObjectKey{Name: worker}, n)
	if apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) {
		return nil
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

func (m *machineCase) nodeReady() corev1.ConditionStatus {
	m.t.Helper()
	n := m.node()
	if n == nil {
		return "no node"
	}
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return "no condition"
}

func (m *machineCase) annotate(name, value string) {
	m.t.Helper()
	o := get(m.t, m.client, openStackMachine, worker)
	annotate(o, name, value)
	if err := m.client.Update(context.Background(), o); err != nil {
		m.t.Fatal(err)
	}
}

func (m *machineCase) setNodeRef() {
	m.t.Helper()
	machine := &clusterv1.Machine{}
	if err := m.client.Get(context.Background(), key(worker), machine); err != nil {
		m.t.Fatal(err)
	}
	machine.Status.NodeRef.Name = worker
	if err := m.client.Update(context.Background(), machine); err != nil {
		m.t.Fatal(err)
	}
}

func TestAMachineBecomesANode(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	check(t, "ready", m.ready(), true)
	check(t, "provider id", m.field("spec", "providerID"), "openstack:///"+m.field("status", "instanceID"))
	n := m.node()
	check(t, "provider id of the node", n.Spec.ProviderID, m.field("spec", "providerID"))
	check(t, "version", n.Status.NodeInfo.KubeletVersion, "v1.34.2")
	check(t, "label a", n.Labels["a"], "1")
	check(t, "label b", n.Labels["b"], "2")
	check(t, "taints", len(n.Spec.Taints), 1)
	check(t, "node ready", m.nodeReady(), corev1.ConditionTrue)
}

// kubeletArg adds an argument of the worker's kubelet.
func (m *machineCase) kubeletArg(name, value string) {
	m.t.Helper()
	config := &bootstrapv1.KubeadmConfig{}
	if err := m.client.Get(context.Background(), key(worker), config); err != nil {
		m.t.Fatal(err)
	}
	registration := &config.Spec.JoinConfiguration.NodeRegistration
	registration.KubeletExtraArgs = append(registration.KubeletExtraArgs, bootstrapv1.Arg{Name: name, Value: &value})
	if err := m.client.Update(context.Background(), config); err != nil {
		m.t.Fatal(err)
	}
}

func TestAKubeletKnowsItsProviderID(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.kubeletArg("provider-id", "openstack://elsewhere/{{ instance_id }}")
	m.reconcile()
	check(t, "of the machine", m.field("spec", "providerID"), "openstack:///"+m.field("status", "instanceID"))
	check(t, "of the node", m.node().Spec.ProviderID, "openstack://elsewhere/"+m.field("status", "instanceID"))
}

func TestAKubeletDoesNotStartWithLabelsOfOthers(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.kubeletArg("node-labels", "node-role.kubernetes.io/worker=")
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	check(t, "node", m.nodeReady(), corev1.ConditionStatus("no node"))
}

func TestLabelsThatAKubeletMayHave(t *testing.T) {
	for name, want := range map[string]bool{
		"pool": true, "example.org/pool": true, "kubernetes.io/hostname": true, "node.kubernetes.io/pool": true,
		"a.kubelet.kubernetes.io/b": true, "topology.kubernetes.io/zone": true, "notkubernetes.io/a": true,
		"node-role.kubernetes.io/worker": false, "kubernetes.io/role": false, "k8s.io/a": false, "x.k8s.io/a": false,
	} {
		value := name + "=x"
		k := kubelet{}
		k.registration.KubeletExtraArgs = []bootstrapv1.Arg{{Name: "node-labels", Value: &value}}
		err := k.starts()
		check(t, name, err == nil, want)
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Error(err)
		}
	}
}

func TestANodeStaysReadyWhenTheClockIsSetBack(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.reconcile()
	check(t, "before", m.nodeReady(), corev1.ConditionTrue)
	m.clock = instant.Add(-time.Hour)
	m.reconcile()
	check(t, "after", m.nodeReady(), corev1.ConditionTrue)
}

func TestANodeWaitsForTheCNIOfItsCluster(t *testing.T) {
	// given a cluster without a CNI, next to one that has one
	m := newMachineCase(t, nil, deployedCNI("other"))
	m.reconcile()
	check(t, "machine ready", m.ready(), true)
	check(t, "node ready", m.nodeReady(), corev1.ConditionFalse)
	// when it gets one
	cni := deployedCNI("c")
	if err := m.client.Create(context.Background(), cni); err != nil {
		t.Fatal(err)
	}
	m.reconcile()
	check(t, "node ready", m.nodeReady(), corev1.ConditionTrue)
	// and the CNI's failure later does not change that
	if err := m.client.Delete(context.Background(), cni); err != nil {
		t.Fatal(err)
	}
	m.reconcile()
	check(t, "node still ready", m.nodeReady(), corev1.ConditionTrue)
}

func TestANetworkThatIsAppliedToTheClusterItself(t *testing.T) {
	// given DaemonSets, none of them of a network
	m := newMachineCase(t, nil, machineOf("c", "c-worker-2", nil))
	m.reconcile()
	m.apply("logs", "/var/log")
	m.patch("logs")
	m.reconcile()
	check(t, "node ready", m.nodeReady(), corev1.ConditionFalse)
	// when there is one of a network
	m.apply("cni", "/etc/cni/net.d/")
	m.reconcile()
	// then nodes are ready
	check(t, "node ready", m.nodeReady(), corev1.ConditionTrue)
}

func TestAClusterThatHadANetworkHasIt(t *testing.T) {
	// given another machine that is a node, before this program was restarted
	m := newMachineCase(t, nil, machineOf("c", "c-worker-2", map[string]string{annotationPrefix + nodeReadyFrom: "x"}))
	m.reconcile()
	check(t, "node ready", m.nodeReady(), corev1.ConditionTrue)
	// but an addon that is not deployed decides
	cni := deployedCNI("c")
	set(cni.(*unstructured.Unstructured), phaseFailed, "status", "phase")
	m = newMachineCase(t, nil, cni, machineOf("c", "c-worker-2", map[string]string{annotationPrefix + nodeReadyFrom: "x"}))
	m.reconcile()
	check(t, "node ready with a failed addon", m.nodeReady(), corev1.ConditionFalse)
}

// machineOf is a machine of a cluster, not reconciled here.
func machineOf(cluster, name string, annotations map[string]string) client.Object {
	o := newObject(openStackMachine)
	o.SetNamespace(namespace)
	o.SetName(name)
	o.SetLabels(map[string]string{clusterv1.ClusterNameLabel: cluster})
	o.SetAnnotations(annotations)
	return o
}

// apply makes a DaemonSet in the workload cluster that mounts a folder of nodes.
func (m *machineCase) apply(name, folder string) {
	m.t.Helper()
	if err := m.r.workloads.client(key("c")).Create(context.Background(), daemonSet(name, folder)); err != nil {
		m.t.Fatal(err)
	}
}

// patch changes a DaemonSet like a client of the API, without its Go type.
func (m *machineCase) patch(name string) {
	m.t.Helper()
	o := newObject(appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	if err := m.r.workloads.client(key("c")).Get(context.Background(), client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: name}, o); err != nil {
		m.t.Fatal(err)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"a": "b"}}}`))
	if err := m.r.workloads.client(key("c")).Patch(context.Background(), o, patch); err != nil {
		m.t.Fatal(err)
	}
}

func daemonSet(name, folder string) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder}}}}
	return d
}

func TestASlowMachineIsBuildingFirst(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.r.behaviours = behaviours{"m1.small": {CreateDelay: duration(20 * time.Second), NodeReadyDelay: duration(5 * time.Second)}}
	check(t, "wait", m.reconcile().RequeueAfter, 21*time.Second)
	check(t, "state", m.state(), stateBuild)
	check(t, "ready", m.ready(), false)
	check(t, "condition", len(conditionOf(get(t, m.client, openStackMachine, worker), "Ready")), 0)

	// when the program is restarted in between: the start is in the object
	m.clock = instant.Add(15 * time.Second)
	check(t, "rest", m.reconcile().RequeueAfter, 6*time.Second)

	m.clock = instant.Add(21 * time.Second)
	check(t, "wait for the node", m.reconcile().RequeueAfter, 5*time.Second)
	check(t, "state", m.state(), stateActive)
	check(t, "node ready", m.nodeReady(), corev1.ConditionFalse)

	m.clock = instant.Add(26 * time.Second)
	m.reconcile()
	check(t, "node ready", m.nodeReady(), corev1.ConditionTrue)
}

func TestOnlyTheServerTellsThatNovaRefusedIt(t *testing.T) {
	m := newMachineCase(t, nil)
	m.r.behaviours = behaviours{"m1.small": {Failure: "No valid host was found"}}
	m.reconcile()
	check(t, "state", m.state(), stateError)
	server := m.server()
	check(t, "id", nested(server, "status", "instanceID"), "")
	check(t, "cluster", server.GetLabels()[clusterv1.ClusterNameLabel], "c")
	check(t, "owner", server.GetOwnerReferences()[0].UID, types.UID(worker))
	for _, kind := range []string{"Ready", instanceReady} {
		c := conditionOf(server, kind)
		check(t, kind, c["status"], "False")
		check(t, kind+" reason", c["reason"], "InstanceCreateFailed")
		check(t, kind+" message", c["message"], "No valid host was found")
	}
	// the machine waits
	check(t, "ready", m.ready(), false)
	check(t, "state of the machine", m.field("status", "instanceState"), "")
	check(t, "failure", m.field("status", "failureReason")+m.field("status", "failureMessage"), "")
	check(t, "condition", len(conditionOf(get(t, m.client, openStackMachine, worker), "Ready")), 0)
	check(t, "node", m.nodeReady(), corev1.ConditionStatus("no node"))
	// even if the cause is removed
	m.annotate("failure", "")
	m.reconcile()
	check(t, "state", m.state(), stateError)
	// until it is deleted
	m.deleteMachine()
	m.reconcile()
	m.checkGone()
}

func TestAServerThatNovaRefusesLateIsNotBuilding(t *testing.T) {
	m := newMachineCase(t, nil)
	m.r.behaviours = behaviours{"m1.small": {CreateDelay: duration(20 * time.Second), Failure: "No valid host was found"}}
	check(t, "wait", m.reconcile().RequeueAfter, 21*time.Second)
	check(t, "state", m.state(), "")
	m.clock = instant.Add(21 * time.Second)
	m.reconcile()
	check(t, "state", m.state(), stateError)
}

func TestAMachineThatRanAndIsNoNodeFailsForGood(t *testing.T) {
	m := newMachineCase(t, nil)
	m.reconcile()
	m.annotate("failure", "disk gone")
	m.reconcile()
	check(t, "state", m.state(), stateError)
	check(t, "reason", m.field("status", "failureReason"), "UpdateError")
	check(t, "message", m.field("status", "failureMessage"), "disk gone")
	// even if the cause is removed
	m.annotate("failure", "")
	m.reconcile()
	check(t, "state", m.state(), stateError)
}

func TestAServerHasWhatItsMachineWants(t *testing.T) {
	infra := newCluster("c")
	set(infra, "cloud", "spec", "identityRef", "name")
	m := newMachineCase(t, nil, infra, credentials())
	m.infrastructure("c")
	o := get(t, m.client, openStackMachine, worker)
	set(o, "debian", "spec", "image", "filter", "name")
	if err := m.client.Update(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	m.reconcile()
	server := m.server()
	check(t, "flavor", nested(server, "spec", "flavor"), "m1.small")
	check(t, "image", nested(server, "spec", "image", "filter", "name"), "debian")
	check(t, "credentials", nested(server, "spec", "identityRef", "name"), "cloud")
	check(t, "user data", nested(server, "spec", "userDataRef", "name"), "data")
	check(t, "id", nested(server, "status", "instanceID"), m.field("status", "instanceID"))
	check(t, "condition", conditionOf(server, instanceReady)["status"], "True")
}

func TestAMachineThatIsReadyHasNotToBeBuilt(t *testing.T) {
	// given one that an earlier version of this program made
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.reconcile()
	if err := m.client.Delete(context.Background(), m.server()); err != nil {
		t.Fatal(err)
	}
	m.annotate("create-delay", "1h")
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	check(t, "node", m.nodeReady(), corev1.ConditionTrue)
}

func TestARunningMachineCanFailAndRecover(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.reconcile()
	m.setNodeRef()
	m.annotate("failure", "disk gone")
	m.reconcile()
	check(t, "state", m.state(), stateError)
	check(t, "terminal", m.field("status", "failureReason"), "")
	check(t, "node", m.nodeReady(), corev1.ConditionUnknown)
	m.annotate("failure", "")
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	check(t, "node", m.nodeReady(), corev1.ConditionTrue)
}

func TestANodeThatIsDeletedDoesNotComeBack(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.reconcile()
	m.setNodeRef()
	if err := m.r.workloads.client(key("c")).Delete(context.Background(), m.node()); err != nil {
		t.Fatal(err)
	}
	m.reconcile()
	check(t, "deleted", m.nodeReady(), corev1.ConditionStatus("no node"))
	// when its kubelet is started again
	m.annotate("failure", "no power")
	m.reconcile()
	check(t, "without power", m.nodeReady(), corev1.ConditionStatus("no node"))
	m.annotate("failure", "")
	m.reconcile()
	check(t, "started again", m.nodeReady(), corev1.ConditionTrue)
}

// controlPlane makes the worker a control plane whose API server can listen.
func (m *machineCase) controlPlane() {
	m.t.Helper()
	ctx := context.Background()
	cluster, machine, o := &clusterv1.Cluster{}, &clusterv1.Machine{}, get(m.t, m.client, openStackMachine, worker)
	for name, into := range map[string]client.Object{"c": cluster, worker: machine} {
		if err := m.client.Get(ctx, key(name), into); err != nil {
			m.t.Fatal(err)
		}
	}
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: workloadHost, Port: freePort(m.t, workloadHost)}
	labels := map[string]string{clusterv1.ClusterNameLabel: "c", clusterv1.MachineControlPlaneLabel: ""}
	machine.SetLabels(labels)
	o.SetLabels(labels)
	for _, changed := range []client.Object{cluster, machine, o} {
		if err := m.client.Update(ctx, changed); err != nil {
			m.t.Fatal(err)
		}
	}
	for n, purpose := range []secret.Purpose{secret.ClusterCA, secret.EtcdCA} {
		if err := m.client.Create(ctx, newTestCA(m.t, n).secret("c", purpose)); err != nil {
			m.t.Fatal(err)
		}
	}
}

func TestAnAPIServerStopsWithItsLastControlPlane(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.controlPlane()
	m.reconcile()
	m.setNodeRef()
	check(t, "serves", m.r.workloads.serves(key("c")), true)
	m.annotate("failure", "no power")
	m.reconcile()
	check(t, "serves without power", m.r.workloads.serves(key("c")), false)
	m.annotate("failure", "")
	m.reconcile()
	check(t, "serves again", m.r.workloads.serves(key("c")), true)
	// when there is another one
	other := machineOf("c", "c-2", nil).(*unstructured.Unstructured)
	other.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c", clusterv1.MachineControlPlaneLabel: ""})
	setConditions(other, instant, conditionTrue(instanceReady))
	if err := m.client.Create(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	m.annotate("failure", "no power")
	m.reconcile()
	check(t, "serves with another", m.r.workloads.serves(key("c")), true)
	m.r.workloads.remove(key("c"))
}

func TestAMachineCanCrash(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.r.behaviours = behaviours{"m1.small": {Lifetime: duration(time.Minute)}}
	check(t, "lives for", m.reconcile().RequeueAfter, time.Minute)
	m.clock = m.clock.Add(40 * time.Second)
	check(t, "rest", m.reconcile().RequeueAfter, 20*time.Second)
	check(t, "node", m.nodeReady(), corev1.ConditionTrue)
	m.clock = m.clock.Add(20 * time.Second)
	check(t, "afterwards", m.reconcile().RequeueAfter, time.Duration(0))
	check(t, "state", m.state(), stateShutoff)
	check(t, "terminal", m.field("status", "failureReason"), "")
	check(t, "node", m.nodeReady(), corev1.ConditionUnknown)
	// when the fault is over
	m.annotate("lifetime", "0s")
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	check(t, "node", m.nodeReady(), corev1.ConditionTrue)
}

func TestANodeCanBeAbsentOrNotReady(t *testing.T) {
	m := newMachineCase(t, map[string]string{annotationPrefix + "node": nodeAbsent}, deployedCNI("c"))
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	check(t, "absent", m.nodeReady(), corev1.ConditionStatus("no node"))
	m.annotate("node", nodeNotReady)
	m.reconcile()
	check(t, "not ready", m.nodeReady(), corev1.ConditionFalse)
	m.annotate("node", "")
	m.reconcile()
	check(t, "healed", m.nodeReady(), corev1.ConditionTrue)
}

func TestABadAnnotationStopsAMachineButNotItsDeletion(t *testing.T) {
	m := newMachineCase(t, nil)
	m.reconcile()
	m.annotate("create-delay", "later")
	if _, err := m.r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key(worker)}); err == nil {
		t.Error("accepted")
	}
	m.deleteMachine()
	m.reconcile()
	m.checkGone()
}

func (m *machineCase) pause(paused bool) {
	m.t.Helper()
	cluster := &clusterv1.Cluster{}
	if err := m.client.Get(context.Background(), key("c"), cluster); err != nil {
		m.t.Fatal(err)
	}
	cluster.Spec.Paused = &paused
	if err := m.client.Update(context.Background(), cluster); err != nil {
		m.t.Fatal(err)
	}
}

func TestAMachineOfAPausedClusterIsLeftAlone(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.pause(true)
	m.reconcile()
	check(t, "state", m.state(), "")
	m.pause(false)
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	// and when it is deleted
	m.pause(true)
	m.deleteMachine()
	m.reconcile()
	check(t, "node meanwhile", m.nodeReady(), corev1.ConditionTrue)
	m.pause(false)
	m.reconcile()
	m.checkGone()
}

func TestAMachineCanBePausedItself(t *testing.T) {
	m := newMachineCase(t, map[string]string{clusterv1.PausedAnnotation: ""}, deployedCNI("c"))
	m.reconcile()
	check(t, "state", m.state(), "")
}

// infrastructure names the OpenStackCluster of the cluster.
func (m *machineCase) infrastructure(name string) {
	m.t.Helper()
	cluster := &clusterv1.Cluster{}
	if err := m.client.Get(context.Background(), key("c"), cluster); err != nil {
		m.t.Fatal(err)
	}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: openStackGV.Group, Kind: openStackCluster.Kind, Name: name}
	if err := m.client.Update(context.Background(), cluster); err != nil {
		m.t.Fatal(err)
	}
}

func TestAMachineNeedsTheCredentialsOfItsCluster(t *testing.T) {
	infra := newCluster("c")
	set(infra, "cloud", "spec", "identityRef", "name")
	m := newMachineCase(t, nil, infra, deployedCNI("c"))
	m.infrastructure("c")
	refused := func() {
		t.Helper()
		if _, err := m.r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key(worker)}); err == nil {
			t.Error("no error")
		}
	}
	refused()
	check(t, "state", m.state(), "")
	if err := m.client.Create(context.Background(), credentials()); err != nil {
		t.Fatal(err)
	}
	m.reconcile()
	check(t, "state", m.state(), stateActive)
	// when they are deleted first
	if err := m.client.Delete(context.Background(), credentials()); err != nil {
		t.Fatal(err)
	}
	m.reconcile()
	m.deleteMachine()
	refused()
	// then they have to be made again
	if err := m.client.Create(context.Background(), credentials()); err != nil {
		t.Fatal(err)
	}
	m.reconcile()
	m.checkGone()
}

func (m *machineCase) deleteMachine() {
	m.t.Helper()
	if err := m.client.Delete(context.Background(), get(m.t, m.client, openStackMachine, worker)); err != nil {
		m.t.Fatal(err)
	}
	m.clock = get(m.t, m.client, openStackMachine, worker).GetDeletionTimestamp().Time
}

func (m *machineCase) checkGone() {
	m.t.Helper()
	if err := m.client.Get(context.Background(), key(worker), newObject(openStackMachine)); !apierrors.IsNotFound(err) {
		m.t.Errorf("still there: %v", err)
	}
	check(m.t, "server gone", m.server() == nil, true)
	check(m.t, "node", m.nodeReady(), corev1.ConditionStatus("no node"))
}

func TestAMachineIsDeletedInItsTime(t *testing.T) {
	m := newMachineCase(t, nil, deployedCNI("c"))
	m.r.behaviours = behaviours{"m1.small": {DeleteDelay: duration(10 * time.Second)}}
	m.reconcile()
	m.deleteMachine()
	check(t, "wait", m.reconcile().RequeueAfter, 11*time.Second)
	check(t, "node meanwhile", m.nodeReady(), corev1.ConditionTrue)
	m.clock = m.clock.Add(11 * time.Second)
	m.reconcile()
	m.checkGone()
}

func TestAFailedMachineIsDeletedEvenIfEverythingElseIsGone(t *testing.T) {
	m := newMachineCase(t, map[string]string{annotationPrefix + "failure": "x"})
	m.reconcile()
	for _, o := range []client.Object{testCluster("c"), &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: worker}}} {
		if err := m.client.Delete(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	m.deleteMachine()
	m.reconcile()
	m.checkGone()
}
