// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstream"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const serverID = "0b4ce1d5-31cb-4d3f-9a58-8c5a0ea94e3b"

// userData is made by the kubeadm bootstrap provider's own code, for a cluster
// of some Kubernetes version.
type userData struct {
	t        *testing.T
	ca, etcd *testCA
	endpoint string
	version  string
}

func (u userData) certificates() secret.Certificates {
	pair := func(purpose secret.Purpose, file string, ca *testCA) *secret.Certificate {
		s := ca.secret("c", purpose)
		return &secret.Certificate{Purpose: purpose, CertFile: "/etc/kubernetes/pki/" + file + ".crt", KeyFile: "/etc/kubernetes/pki/" + file + ".key",
			KeyPair: &certs.KeyPair{Cert: s.Data[secret.TLSCrtDataName], Key: s.Data[secret.TLSKeyDataName]}}
	}
	return secret.Certificates{pair(secret.ClusterCA, "ca", u.ca), pair(secret.EtcdCA, "etcd/ca", u.etcd)}
}

func registration() bootstrapv1.NodeRegistrationOptions {
	labels, id := "pool=gold,a=1", "openstack:///{{ instance_id }}"
	return bootstrapv1.NodeRegistrationOptions{Name: "{{ local_hostname }}", KubeletExtraArgs: []bootstrapv1.Arg{
		{Name: "node-labels", Value: &labels}, {Name: "provider-id", Value: &id}}}
}

func (u userData) init() []byte {
	u.t.Helper()
	v := semver.MustParse(strings.TrimPrefix(u.version, "v"))
	cluster, err := kubeadmtypes.MarshalClusterConfigurationForVersion(
		&bootstrapv1.ClusterConfiguration{ControlPlaneEndpoint: u.endpoint}, v, &upstream.AdditionalData{KubernetesVersion: &u.version})
	if err != nil {
		u.t.Fatal(err)
	}
	init, err := kubeadmtypes.MarshalInitConfigurationForVersion(&bootstrapv1.InitConfiguration{NodeRegistration: registration()}, v)
	if err != nil {
		u.t.Fatal(err)
	}
	data, err := cloudinit.NewInitControlPlane(&cloudinit.ControlPlaneInput{
		BaseUserData: cloudinit.BaseUserData{KubernetesVersion: v}, Certificates: u.certificates(),
		ClusterConfiguration: cluster, InitConfiguration: init})
	if err != nil {
		u.t.Fatal(err)
	}
	return data
}

func (u userData) join(controlPlane bool) []byte {
	u.t.Helper()
	v := semver.MustParse(strings.TrimPrefix(u.version, "v"))
	c := &bootstrapv1.JoinConfiguration{NodeRegistration: registration()}
	c.Discovery.BootstrapToken = bootstrapv1.BootstrapTokenDiscovery{Token: "abcdef.0123456789abcdef", APIServerEndpoint: u.endpoint,
		CACertHashes: []string{publicKeyPin(u.ca.cert)}}
	if controlPlane {
		c.ControlPlane = &bootstrapv1.JoinControlPlane{}
	}
	config, err := kubeadmtypes.MarshalJoinConfigurationForVersion(c, v)
	if err != nil {
		u.t.Fatal(err)
	}
	var data []byte
	if controlPlane {
		data, err = cloudinit.NewJoinControlPlane(&cloudinit.ControlPlaneJoinInput{BaseUserData: cloudinit.BaseUserData{KubernetesVersion: v},
			Certificates: u.certificates(), JoinConfiguration: config})
	} else {
		data, err = cloudinit.NewNode(&cloudinit.NodeInput{BaseUserData: cloudinit.BaseUserData{KubernetesVersion: v}, JoinConfiguration: config})
	}
	if err != nil {
		u.t.Fatal(err)
	}
	return data
}

func TestUserDataOfTheBootstrapProviderIsUnderstood(t *testing.T) {
	for _, version := range []string{"v1.29.4", "v1.34.2"} { // kubeadm's v1beta3 and v1beta4
		u := userData{t, newTestCA(t, 0), newTestCA(t, 1), "198.18.3.4:6443", version}
		for kind, data := range map[string][]byte{"init": u.init(), "control plane": u.join(true), "worker": u.join(false)} {
			b, err := parseUserData(data, instanceData(serverID, "c-1", "10.6.0.12"))
			if err != nil {
				t.Fatalf("%s %s: %v", version, kind, err)
			}
			check(t, kind+" host", b.host, "198.18.3.4")
			check(t, kind+" port", b.port, int32(6443))
			check(t, kind+" control plane", b.controlPlane, kind != "worker")
			check(t, kind+" CA", fmt.Sprint(b.caHashes), fmt.Sprint([]string{publicKeyPin(u.ca.cert)}))
			check(t, kind+" node", b.registration.Name, "c-1")
			check(t, kind+" label", nodeLabels(b.registration)["pool"], "gold")
			check(t, kind+" provider id", fmt.Sprint(kubeletArg(b.registration, "provider-id")), "[openstack:///"+serverID+"]")
			if kind == "init" {
				check(t, "version", b.version, version)
			}
		}
	}
}

func TestUserDataThatIsNotUnderstood(t *testing.T) {
	u := userData{t, newTestCA(t, 0), newTestCA(t, 1), "198.18.3.4:6443", "v1.34.2"}
	for problem, data := range map[string]string{
		"not a cloud-config":      `{"ignition":{"version":"3.4.0"}}`,
		"is no YAML":              "#cloud-config\nwrite_files: [",
		"no ds.meta_data.project": "## template: jinja\n#cloud-config\nhostname: '{{ ds.meta_data.project }}'\n",
		"pki/ca":                  strings.ReplaceAll(string(u.init()), "pki/ca.key", "pki/other.key"),
		"control plane endpoint":  strings.ReplaceAll(string(u.join(false)), "198.18.3.4:6443", "nowhere"),
		"JoinConfiguration":       strings.ReplaceAll(string(u.join(false)), "kind: JoinConfiguration", "kind: Else"),
	} {
		_, err := parseUserData([]byte(data), instanceData(serverID, "c-1", ""))
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q in it", err, problem)
		}
	}
}

func TestCloudConfigWithoutKubeadmIsAPlainServer(t *testing.T) {
	b, err := parseUserData([]byte("#cloud-config\nhostname: '{{ x }}'\n"), nil)
	if b != nil || err != nil {
		t.Errorf("got %v, %v", b, err)
	}
}

func TestEncodedFiles(t *testing.T) {
	zipped := "H4sIAAAAAAAC/8tIzcnJBwCGphA2BQAAAA==" // "hello"
	for encoding, content := range map[string]string{"": "hello", "b64": "aGVsbG8=", "base64": "aGVs\nbG8="} {
		b, err := decodeFile(content, encoding)
		if string(b) != "hello" || err != nil {
			t.Errorf("%s: %q, %v", encoding, b, err)
		}
	}
	if _, err := decodeFile(zipped[:12], "gz+b64"); err == nil {
		t.Error("half a file was accepted")
	}
}

// machineCloud is the machine service on its socket, with API servers on
// loopback.
type machineCloud struct {
	t        *testing.T
	machines *machines
	service  *machineService
	client   *http.Client
	data     userData
	hasCNI   atomic.Bool
}

func newMachineCloud(t *testing.T) *machineCloud {
	t.Helper()
	c := &machineCloud{t: t, data: userData{t, newTestCA(t, 0), newTestCA(t, 1), fmt.Sprintf("%s:%d", workloadHost, freePort(t, workloadHost)), "v1.34.2"}}
	c.hasCNI.Store(true)
	c.machines = newMachines(t.Context(), testWorkloads(t, nil), behaviours{"absent": {Node: nodeAbsent}, "unready": {Node: nodeNotReady}, "crash": {Lifetime: duration(500 * time.Millisecond)}})
	c.machines.deployedCNI = func(_ context.Context, host string, port int32) (bool, error) {
		return c.hasCNI.Load() && net.JoinHostPort(host, fmt.Sprint(port)) == c.data.endpoint, nil
	}
	c.service = &machineService{hypervisor: c.machines}
	folder, err := os.MkdirTemp("", "m") // a short path: sockets want one
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "s")
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- c.service.serve(ctx, socket) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(folder)
	})
	c.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	c.eventually("socket", c.service.serving.Load)
	info, err := os.Stat(socket)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "mode of the socket", info.Mode().Perm(), os.FileMode(0o600))
	return c
}

func (c *machineCloud) ask(method, path string, body any) (int, map[string]any) {
	c.t.Helper()
	b, _ := json.Marshal(body)
	r, err := http.NewRequest(method, "http://machines/machines"+path, bytes.NewReader(b))
	if err != nil {
		c.t.Fatal(err)
	}
	response, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	b, _ = io.ReadAll(response.Body)
	answer := map[string]any{}
	_ = json.Unmarshal(b, &answer)
	return response.StatusCode, answer
}

func (c *machineCloud) put(id, name, flavor string, data []byte) (int, map[string]any) {
	c.t.Helper()
	body := map[string]any{"name": name, "user_data": nil, "addresses": []string{"10.6.0.12"}, "image": "i", "metadata": map[string]string{},
		"flavor": map[string]any{"name": flavor, "vcpus": 3, "ram_mib": 2048, "disk_gib": 9}}
	if data != nil {
		body["user_data"] = base64.StdEncoding.EncodeToString(data)
	}
	return c.ask(http.MethodPut, "/"+id, body)
}

func (c *machineCloud) eventually(what string, f func() bool) {
	c.t.Helper()
	for range 100 {
		if f() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	c.t.Fatalf("%s: not within 5 s", what)
}

func (c *machineCloud) key() client.ObjectKey {
	return client.ObjectKey{Namespace: c.data.endpoint, Name: publicKeyPin(c.data.ca.cert)}
}

func (c *machineCloud) node(name string) *corev1.Node {
	n := &corev1.Node{}
	if c.machines.workloads.client(c.key()).Get(context.Background(), client.ObjectKey{Name: name}, n) != nil {
		return nil
	}
	return n
}

func (c *machineCloud) readiness(name string) corev1.ConditionStatus {
	if n := c.node(name); n != nil {
		for _, x := range n.Status.Conditions {
			if x.Type == corev1.NodeReady {
				return x.Status
			}
		}
	}
	return "none"
}

func TestAClusterBootsFromUserDataAlone(t *testing.T) {
	c := newMachineCloud(t)
	// given a worker that exists before its cluster
	if code, answer := c.put("w", "c-w", "m1", c.data.join(false)); code != http.StatusCreated {
		t.Fatal(code, answer)
	}
	c.eventually("it says what it waits for", func() bool {
		_, answer := c.ask(http.MethodGet, "/w/console", nil)
		return strings.Contains(fmt.Sprint(answer["console"]), "kubeadm join: no API server")
	})
	// when the control plane boots
	if code, answer := c.put("cp", "c-cp", "m1", c.data.init()); code != http.StatusCreated {
		t.Fatal(code, answer)
	}
	// then both nodes exist
	for _, name := range []string{"c-cp", "c-w"} {
		c.eventually(name, func() bool { return c.readiness(name) == corev1.ConditionTrue })
	}
	n := c.node("c-w")
	check(t, "provider id", n.Spec.ProviderID, "openstack:///w")
	check(t, "address", n.Status.Addresses[0].Address, "10.6.0.12")
	check(t, "label", n.Labels["pool"], "gold")
	check(t, "version", n.Status.NodeInfo.KubeletVersion, "v1.34.2")
	check(t, "cpus", n.Status.Capacity.Cpu().Value(), int64(3))
	// and the API server answers at the endpoint, signed by the CA
	mine := c.data.ca.client(t, "admin", "system:masters")
	pool := c.data.ca.pool()
	conn, err := tls.Dial("tcp", c.data.endpoint, &tls.Config{RootCAs: pool, ServerName: workloadHost,
		Certificates: []tls.Certificate{{Certificate: [][]byte{mine.cert.Raw}, PrivateKey: mine.key}}})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	// and another control plane joins, and the first may go
	c.put("cp2", "c-cp2", "m1", c.data.join(true))
	c.eventually("c-cp2", func() bool { return c.readiness("c-cp2") == corev1.ConditionTrue })
	for _, id := range []string{"cp", "cp"} {
		if code, _ := c.ask(http.MethodDelete, "/"+id, nil); code != http.StatusNoContent {
			t.Error(code)
		}
	}
	if c.node("c-cp") != nil || c.node("c-w") == nil {
		t.Error("the wrong node is gone")
	}
	members, _ := c.machines.workloads.etcdMembers(context.Background(), c.key())
	check(t, "etcd members", len(members), 1)
	// and nothing listens once all control planes are gone
	c.ask(http.MethodDelete, "/cp2", nil)
	if _, err := net.Dial("tcp", c.data.endpoint); err == nil {
		t.Error("the API server is still there")
	}
}

func TestAServerWhoseKubeletDoesNotStart(t *testing.T) {
	c := newMachineCloud(t)
	c.put("cp", "c-cp", "m1", c.data.init())
	c.eventually("c-cp", func() bool { return c.readiness("c-cp") == corev1.ConditionTrue })
	c.put("w", "c-w", "m1", bytes.ReplaceAll(c.data.join(false), []byte("pool=gold"), []byte("node-role.kubernetes.io/worker=")))
	c.eventually("it says why", func() bool {
		_, answer := c.ask(http.MethodGet, "/w/console", nil)
		return strings.Contains(fmt.Sprint(answer["console"]), "node-role.kubernetes.io/worker")
	})
	if c.node("c-w") != nil {
		t.Error("it has a node")
	}
	if code, _ := c.ask(http.MethodDelete, "/w", nil); code != http.StatusNoContent || c.node("c-cp") == nil {
		t.Error("its deletion", code)
	}
}

func TestANetworkThatIsAppliedToAClusterOfServers(t *testing.T) {
	// given a cluster without a CNI addon
	c := newMachineCloud(t)
	c.hasCNI.Store(false)
	c.put("cp", "c-cp", "m1", c.data.init())
	c.eventually("it waits", func() bool { return c.readiness("c-cp") == corev1.ConditionFalse })
	// when one is applied
	if err := c.machines.workloads.client(c.key()).Create(context.Background(), daemonSet("cni", cniFolder)); err != nil {
		t.Fatal(err)
	}
	// then its node is ready
	c.eventually("c-cp", func() bool { return c.readiness("c-cp") == corev1.ConditionTrue })
}

func TestMachinesAreSentAgain(t *testing.T) {
	c := newMachineCloud(t)
	c.put("cp", "c-cp", "m1", c.data.init())
	if code, _ := c.put("cp", "c-cp", "m1", c.data.init()); code != http.StatusOK {
		t.Error("the same again:", code)
	}
	if code, _ := c.put("cp", "c-else", "m1", c.data.init()); code != http.StatusBadRequest {
		t.Error("another one:", code)
	}
}

func TestAnotherCAIsAnotherCluster(t *testing.T) {
	c := newMachineCloud(t)
	c.put("cp", "c-cp", "m1", c.data.init())
	c.eventually("c-cp", func() bool { return c.node("c-cp") != nil })
	foreign := c.data
	foreign.ca = newTestCA(t, 2)
	c.put("w", "c-w", "m1", foreign.join(false))
	time.Sleep(2 * bootRetry)
	if c.node("c-w") != nil {
		t.Error("a node joined the cluster of another CA")
	}
}

func TestPower(t *testing.T) {
	c := newMachineCloud(t)
	c.put("cp", "c-cp", "m1", c.data.init())
	for _, step := range []struct {
		action, state string
		ready         corev1.ConditionStatus
	}{{"", stateRunning, corev1.ConditionTrue}, {"stop", stateStopped, corev1.ConditionUnknown},
		{"start", stateRunning, corev1.ConditionTrue}, {"reboot", stateRunning, corev1.ConditionTrue}} {
		if step.action != "" {
			if code, answer := c.ask(http.MethodPost, "/cp/"+step.action, nil); code != http.StatusNoContent {
				t.Fatal(step.action, code, answer)
			}
		}
		_, answer := c.ask(http.MethodGet, "/cp", nil)
		check(t, step.action, answer["state"], any(step.state))
		c.eventually(step.action, func() bool { return c.readiness("c-cp") == step.ready })
		check(t, step.action+": serves", c.serves(), step.state == stateRunning)
	}
	// and with another control plane
	c.put("cp2", "c-cp2", "m1", c.data.join(true))
	c.eventually("c-cp2", func() bool { return c.readiness("c-cp2") == corev1.ConditionTrue })
	c.ask(http.MethodPost, "/cp/stop", nil)
	check(t, "serves with another", c.serves(), true)
}

// serves reports whether the API server accepts connections.
func (c *machineCloud) serves() bool {
	conn, err := net.Dial("tcp", c.data.endpoint)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

func TestFaultsOfFlavors(t *testing.T) {
	c := newMachineCloud(t)
	c.hasCNI.Store(false)
	c.put("cp", "c-cp", "m1", c.data.init())
	c.put("absent", "c-absent", "absent", c.data.join(false))
	c.put("unready", "c-unready", "unready", c.data.join(false))
	c.eventually("node without a CNI", func() bool { return c.readiness("c-cp") == corev1.ConditionFalse })
	c.hasCNI.Store(true)
	c.eventually("node with a CNI", func() bool { return c.readiness("c-cp") == corev1.ConditionTrue })
	c.eventually("unready", func() bool { return c.readiness("c-unready") == corev1.ConditionFalse })
	check(t, "absent", c.readiness("c-absent"), corev1.ConditionStatus("none"))
}

func TestAMachineThatCrashesCanBeStarted(t *testing.T) {
	c := newMachineCloud(t)
	c.put("cp", "c-cp", "m1", c.data.init())
	c.put("crash", "c-crash", "crash", c.data.join(false))
	state := func() any {
		_, answer := c.ask(http.MethodGet, "/crash", nil)
		return answer["state"]
	}
	for _, again := range []string{"", " again"} {
		c.eventually("node ready"+again, func() bool { return c.readiness("c-crash") == corev1.ConditionTrue })
		c.eventually("crash"+again, func() bool { return state() == stateCrashed })
		check(t, "node"+again, c.readiness("c-crash"), corev1.ConditionUnknown)
		for _, action := range []string{"stop", "start"} { // as Nova does
			if code, answer := c.ask(http.MethodPost, "/crash/"+action, nil); code != http.StatusNoContent {
				t.Fatal(action, code, answer)
			}
		}
	}
	check(t, "the others", c.readiness("c-cp"), corev1.ConditionTrue)
}

func TestPlainServersAndRefusals(t *testing.T) {
	c := newMachineCloud(t)
	if code, _ := c.put("plain", "p", "m1", nil); code != http.StatusCreated {
		t.Error(code)
	}
	code, answer := c.put("bad", "b", "m1", []byte("#!/bin/sh\n"))
	if code != http.StatusBadRequest || !strings.Contains(fmt.Sprint(answer["message"]), "not a cloud-config") {
		t.Error(code, answer)
	}
	_, answer = c.ask(http.MethodGet, "", nil)
	check(t, "machines", len(answer["machines"].([]any)), 1)
	if code, _ := c.ask(http.MethodGet, "/bad", nil); code != http.StatusNotFound {
		t.Error(code)
	}
	if code, _ := c.ask(http.MethodDelete, "/bad", nil); code != http.StatusNoContent {
		t.Error(code)
	}
}
