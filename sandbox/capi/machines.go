// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
)

// States of a machine, as the machine service names them.
const (
	stateRunning = "running"
	stateStopped = "stopped"
	stateCrashed = "crashed"
)

// bootRetry is the interval at which a waiting machine checks again: for its
// cluster, like "kubeadm join", or for its CNI, like the kubelet.
const bootRetry = time.Second

// machineSpec is the specification of a server by its creator.
type machineSpec struct {
	Name      string            `json:"name"`
	UserData  []byte            `json:"user_data"` // base64 in JSON
	Addresses []string          `json:"addresses"`
	Flavor    machineFlavor     `json:"flavor"`
	Image     string            `json:"image"`
	Metadata  map[string]string `json:"metadata"`
	// Only of containers: files of the config drive by path, base64 in JSON, and
	// interfaces in their order.
	ConfigDrive map[string][]byte `json:"config_drive"`
	Interfaces  []serverInterface `json:"interfaces"`
	// Of the image. kube_version is the version of its kubelet.
	ImageProperties map[string]string `json:"image_properties"`
}

type machineFlavor struct {
	Name    string `json:"name"`
	VCPUs   int64  `json:"vcpus"`
	RAMMiB  int64  `json:"ram_mib"`
	DiskGiB int64  `json:"disk_gib"`
}

// bootedMachine is a server. Its loop ends with its context.
type bootedMachine struct {
	id     string
	spec   machineSpec
	config *bootConfig // nil without kubeadm
	stop   context.CancelFunc
	done   chan struct{}

	// Protected by the lock of machines.
	state    string
	cluster  client.ObjectKey // that it has joined
	readyAt  time.Time        // when its node is Ready, known once the CNI is
	messages []string         // of its console
}

// machines boots servers in memory from their user data alone, which has the CA
// and the control plane endpoint of the server's cluster.
//
// Nothing is persisted: the owner of the servers sends them again after a
// restart.
type machines struct {
	workloads  *workloads
	behaviours behaviours
	// deployedCNI reports whether the cluster of an endpoint has a CNI addon.
	deployedCNI func(ctx context.Context, host string, port int32) (bool, error)
	now         func() time.Time
	base        context.Context // of all loops

	lock sync.Mutex
	byID map[string]*bootedMachine
}

func newMachines(ctx context.Context, w *workloads, b behaviours) *machines {
	m := &machines{workloads: w, behaviours: b, now: now, base: ctx, byID: map[string]*bootedMachine{}}
	w.version = m.version
	return m
}

// deployedCNIAt finds the cluster by its endpoint, by which an addon provider
// reaches it.
func (r *openStackMachines) deployedCNIAt(ctx context.Context, host string, port int32) (bool, error) {
	clusters := &clusterv1.ClusterList{}
	if err := r.client.List(ctx, clusters); err != nil {
		return false, err
	}
	for i := range clusters.Items {
		c := &clusters.Items[i]
		if e := c.Spec.ControlPlaneEndpoint; e.Host == host && e.Port == port {
			_, deployed, err := r.addonCNI(ctx, c)
			return deployed, err
		}
	}
	return false, nil
}

// put creates a machine; created is false if an equal one exists.
func (s *machines) put(_ context.Context, id string, spec machineSpec) (created bool, err error) {
	m := &bootedMachine{id: id, spec: spec, state: stateRunning}
	if len(spec.UserData) > 0 {
		m.config, err = parseUserData(spec.UserData, instanceData(id, spec.Name, m.address()))
		if err != nil {
			return false, badRequest(fmt.Errorf("user data of %s: %w", spec.Name, err))
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if old, ok := s.byID[id]; ok {
		if !reflect.DeepEqual(old.spec, spec) {
			return false, badRequest(fmt.Errorf("server %s exists with another specification", id))
		}
		return false, nil
	}
	s.byID[id] = m
	m.log(s.now(), "booted from image "+spec.Image)
	s.start(m)
	return true, nil
}

// start runs the loop of a machine; the caller holds the lock.
func (s *machines) start(m *bootedMachine) {
	ctx, stop := context.WithCancel(s.base)
	m.stop, m.done, m.state = stop, make(chan struct{}), stateRunning
	go func(done chan struct{}) {
		defer close(done)
		for {
			after, err := s.boot(ctx, m)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				s.tell(m, err.Error())
				after = bootRetry
			}
			if after == 0 {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(after):
			}
		}
	}(m.done)
}

// boot does what cloud-init, kubeadm and kubelet do. It returns the time until
// it must run again.
func (s *machines) boot(ctx context.Context, m *bootedMachine) (time.Duration, error) {
	b := s.behaviours.of(m.spec.Flavor.Name)
	c := m.config
	if c == nil || b.Node == nodeAbsent {
		return 0, nil
	}
	key, err := s.join(ctx, m)
	if err != nil {
		return 0, err
	}
	if b.Node == nodeNotReady {
		return 0, s.workloads.setNode(ctx, key, m.nodeName(), waitsForCNI)
	}
	if m.readyAt.IsZero() {
		found, err := s.deployedCNI(ctx, c.host, c.port)
		if err == nil && !found {
			found, err = s.workloads.installsCNI(ctx, key)
		}
		if err != nil || !found {
			return bootRetry, errors.Join(err, s.workloads.setNode(ctx, key, m.nodeName(), waitsForCNI))
		}
		m.readyAt = s.now().Add(time.Duration(b.NodeReadyDelay))
	}
	if left := m.readyAt.Sub(s.now()); left > 0 {
		return left, s.workloads.setNode(ctx, key, m.nodeName(), waitsForCNI)
	}
	if b.Lifetime == 0 {
		return 0, s.workloads.setNode(ctx, key, m.nodeName(), kubeletReady)
	}
	if left := m.readyAt.Add(time.Duration(b.Lifetime)).Sub(s.now()); left > 0 {
		return left, s.workloads.setNode(ctx, key, m.nodeName(), kubeletReady)
	}
	return 0, s.crash(ctx, key, m)
}

// crash ends a machine like a fault of its hypervisor; it can be started again.
func (s *machines) crash(ctx context.Context, key client.ObjectKey, m *bootedMachine) error {
	if err := s.workloads.stopKubelet(ctx, key, m.nodeName()); err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	m.state, m.readyAt = stateCrashed, time.Time{}
	m.log(s.now(), "crashed")
	s.stopAPI(m)
	return nil
}

// stopAPI stops the API server of a machine's cluster if no control plane runs
// any more, until one joins again. The caller holds the lock.
func (s *machines) stopAPI(m *bootedMachine) {
	for _, other := range s.byID {
		if other.cluster == m.cluster && other.config != nil && other.config.controlPlane && other.state == stateRunning {
			return
		}
	}
	s.workloads.stop(m.cluster)
}

// join finds the cluster and adds the node. The user data of a control plane
// machine, even of one that joins, describes its whole cluster: after a restart
// of this program, the first of them to come back restores the cluster.
func (s *machines) join(ctx context.Context, m *bootedMachine) (client.ObjectKey, error) {
	c := m.config
	key, found := s.find(c)
	if !found {
		return key, fmt.Errorf("kubeadm join: no API server with a CA of %s answers at %s, trying again",
			strings.Join(c.caHashes, ", "), c.endpoint())
	}
	k := s.kubelet(ctx, key, m)
	if err := k.starts(); err != nil {
		return key, err
	}
	if c.controlPlane {
		if err := s.workloads.create(ctx, key); err != nil {
			return key, err
		}
	}
	s.lock.Lock()
	m.cluster = key // set first, for a complete cleanup if the rest fails
	s.lock.Unlock()
	if err := s.workloads.join(ctx, key, k); err != nil {
		return key, err
	}
	if !c.controlPlane {
		return key, nil
	}
	return key, s.workloads.serve(ctx, key, c.host, c.port, func(_ context.Context, p secret.Purpose) (*authority, error) {
		if p == secret.EtcdCA {
			return c.etcdCA, nil
		}
		return c.ca, nil
	})
}

// find returns the cluster of a machine, and whether it can be joined.
func (s *machines) find(c *bootConfig) (client.ObjectKey, bool) {
	for _, hash := range c.caHashes {
		key := client.ObjectKey{Namespace: c.endpoint(), Name: hash}
		if c.controlPlane || s.workloads.serves(key) {
			return key, true
		}
	}
	return client.ObjectKey{}, false
}

func (c *bootConfig) endpoint() string { return net.JoinHostPort(c.host, fmt.Sprint(c.port)) }

// installed returns the version of the kubelet in the image, else that in
// kubeadm's configuration, or nothing: a join configuration has none.
func (m *bootedMachine) installed() string {
	return cmp.Or(m.spec.ImageProperties["kube_version"], m.config.version)
}

// kubelet describes the node. Its version is that of the machine, or else of the
// control plane.
func (s *machines) kubelet(ctx context.Context, key client.ObjectKey, m *bootedMachine) kubelet {
	k := kubelet{name: m.nodeName(), version: m.installed(), address: m.address(),
		flavor: m.spec.Flavor.Name, cpus: m.spec.Flavor.VCPUs, memoryMiB: m.spec.Flavor.RAMMiB,
		controlPlane: m.config.controlPlane, registration: m.config.registration,
		providerID: "openstack:///" + m.id}
	if ids := kubeletArg(m.config.registration, "provider-id"); len(ids) > 0 {
		k.providerID = ids[len(ids)-1]
	}
	if k.version == "" {
		k.version = s.version(ctx, key)
	}
	return k
}

// version of a control plane is the lowest of its kubelets'.
func (s *machines) version(ctx context.Context, key client.ObjectKey) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	var versions []string
	for _, m := range s.byID {
		if m.config == nil || !m.config.controlPlane || m.cluster != key {
			continue
		}
		if v := m.installed(); v != "" {
			versions = append(versions, v)
		}
	}
	if len(versions) == 0 {
		return ""
	}
	return slices.MinFunc(versions, func(a, b string) int {
		v, err := utilversion.ParseGeneric(a)
		if err != nil {
			return strings.Compare(a, b)
		}
		order, err := v.Compare(b)
		if err != nil {
			return strings.Compare(a, b)
		}
		return order
	})
}

// halt ends the loop of a machine, and undoes what its kubelet did.
func (s *machines) halt(ctx context.Context, m *bootedMachine) error {
	s.endLoop(m)
	s.lock.Lock()
	defer s.lock.Unlock()
	m.state, m.readyAt = stateStopped, time.Time{}
	if m.cluster == (client.ObjectKey{}) {
		return nil
	}
	s.stopAPI(m)
	return s.workloads.stopKubelet(ctx, m.cluster, m.nodeName())
}

func (s *machines) endLoop(m *bootedMachine) {
	s.lock.Lock()
	stop, done := m.stop, m.done
	s.lock.Unlock()
	stop()
	<-done
}

// power stops or starts a machine, or both.
func (s *machines) power(ctx context.Context, id string, off, on bool) error {
	m, err := s.get(id)
	if err != nil {
		return err
	}
	if off {
		if err := s.halt(ctx, m); err != nil {
			return err
		}
		s.tell(m, "stopped")
	}
	if on {
		s.lock.Lock()
		defer s.lock.Unlock()
		if m.state != stateRunning {
			m.log(s.now(), "started")
			s.start(m)
		}
	}
	return nil
}

// remove deletes a machine, and its cluster with the last control plane.
func (s *machines) remove(ctx context.Context, id string) error {
	m, err := s.get(id)
	if apierrors.IsNotFound(err) {
		return nil
	}
	s.endLoop(m)
	s.lock.Lock()
	delete(s.byID, id)
	key, last := m.cluster, true
	for _, other := range s.byID {
		if other.cluster == key && other.config != nil && other.config.controlPlane {
			last = false
		}
	}
	s.lock.Unlock()
	switch {
	case key == (client.ObjectKey{}):
		return nil
	case last:
		s.workloads.remove(key)
		return nil
	default:
		return s.workloads.removeMachine(ctx, key, m.nodeName())
	}
}

func (s *machines) get(id string) (*bootedMachine, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if m, ok := s.byID[id]; ok {
		return m, nil
	}
	return nil, apierrors.NewNotFound(clusterv1.GroupVersion.WithResource("servers").GroupResource(), id)
}

// nodeName is the name under which kubeadm registers a node.
func (m *bootedMachine) nodeName() string {
	if m.config != nil && m.config.registration.Name != "" {
		return m.config.registration.Name
	}
	return m.spec.Name
}

func (m *bootedMachine) address() string {
	if len(m.spec.Addresses) == 0 {
		return ""
	}
	return m.spec.Addresses[0]
}

// maxMessages are kept of a console.
const maxMessages = 100

// log writes a line to the console, unless the last line is the same. The caller
// holds the lock.
func (m *bootedMachine) log(at time.Time, message string) {
	if n := len(m.messages); n > 0 && strings.HasSuffix(m.messages[n-1], " "+message) {
		return
	}
	m.messages = append(m.messages, at.Format(time.RFC3339)+" "+message)
	if n := len(m.messages); n > maxMessages {
		m.messages = m.messages[n-maxMessages:]
	}
	klog.InfoS("Machine", "id", m.id, "name", m.spec.Name, "message", message)
}

func (s *machines) tell(m *bootedMachine, message string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	m.log(s.now(), message)
}
