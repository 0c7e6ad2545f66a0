// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"k8s.io/utils/keymutex"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ownerLabel is on all containers. Several programs may use one engine.
const ownerLabel = "io.magnum-capi.owner"

// serverLabel marks a container as a server; its value is the server's id.
const serverLabel = "io.magnum-capi.server"

// nodeImage is the repository of machine images; the tag is the version of
// Kubernetes.
const nodeImage = "kindest/node"

// configDrive is where cloud-init looks for a config drive that is a folder
// (DataSourceConfigDrive, seed_dir).
const configDrive = "/var/lib/cloud/seed/config_drive"

// consoleLines are kept of a console.
const consoleLines = "500"

// stopSeconds is the time that a server has to shut down.
const stopSeconds = 20

// containers boots servers as containers with systemd and cloud-init, which runs
// their user data: kubeadm makes real nodes of them.
//
// The engine connects them to no network. Their interfaces, with the addresses
// of their ports in Neutron, are attached to the segments of their networks.
type containers struct {
	engine   *client.Client
	owner    string // value of ownerLabel
	folder   string // of config drives
	networks *balancers

	lock     sync.Mutex
	servers  map[string]machineSpec // that have been put since this program started
	attached map[string]bool        // whose interfaces are complete
	changing keymutex.KeyMutex      // one change of a server at a time
}

// changeLocks is the number of locks that all servers share.
const changeLocks = 256

// changeTimeout is the limit for a change of a server.
const changeTimeout = 2 * time.Minute

func newContainers(engine *client.Client, owner, folder string, networks *balancers) *containers {
	return &containers{engine: engine, owner: owner, folder: folder, networks: networks, servers: map[string]machineSpec{},
		attached: map[string]bool{}, changing: keymutex.NewHashed(changeLocks)}
}

// begin starts a change of a server, once others of it have ended. The caller
// calls the function at its end.
func (c *containers) begin(ctx context.Context, id string) (context.Context, func()) {
	c.changing.LockKey(id)
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	return ctx, func() {
		cancel()
		_ = c.changing.UnlockKey(id)
	}
}

var uuidPattern = regexp.MustCompile(`^[0-9a-f-]{36}$`)

func (c *containers) put(ctx context.Context, id string, spec machineSpec) (bool, error) {
	if !uuidPattern.MatchString(id) {
		return false, badRequest(fmt.Errorf("%q is not a server UUID", id))
	}
	version := spec.ImageProperties["kube_version"]
	if version == "" {
		return false, badRequest(fmt.Errorf("image %s of %s has no property kube_version, by which its container image is found", spec.Image, spec.Name))
	}
	ctx, end := c.begin(ctx, id)
	defer end()
	created, err := c.create(ctx, id, spec, nodeImage+":v"+strings.TrimPrefix(version, "v"))
	if err != nil || !created && c.complete(ctx, id) {
		return false, err
	}
	if err = c.start(ctx, id, spec); err != nil && created {
		err = errors.Join(err, c.erase(ctx, id))
	}
	return created, err
}

// create makes the container of a server unless it exists.
func (c *containers) create(ctx context.Context, id string, spec machineSpec, image string) (bool, error) {
	if _, err := c.engine.ContainerInspect(ctx, id, client.ContainerInspectOptions{}); err == nil {
		return false, nil
	} else if !cerrdefs.IsNotFound(err) {
		return false, err
	}
	if err := writeFiles(c.drive(id), spec.ConfigDrive); err != nil {
		return false, errors.Join(fmt.Errorf("config drive of %s: %w", spec.Name, err), os.RemoveAll(c.drive(id)))
	}
	no := false
	_, err := c.engine.ContainerCreate(ctx, client.ContainerCreateOptions{
		Name: id,
		Config: &container.Config{
			Image: image, Hostname: spec.Name, Tty: true,
			Labels:  map[string]string{ownerLabel: c.owner, serverLabel: id, serverLabel + ".name": spec.Name},
			Volumes: map[string]struct{}{"/var": {}},
		},
		// Like the machines of Cluster API's docker provider.
		HostConfig: &container.HostConfig{
			Privileged: true, NetworkMode: "none", CgroupnsMode: "private", Init: &no,
			SecurityOpt: []string{"seccomp=unconfined", "apparmor=unconfined"},
			Tmpfs:       map[string]string{"/tmp": "", "/run": ""},
			ExtraHosts:  hosts(spec),
			Binds:       []string{"/lib/modules:/lib/modules:ro", c.drive(id) + ":" + configDrive + ":ro"},
		},
	})
	if err != nil {
		return false, errors.Join(fmt.Errorf("container of %s: %w", spec.Name, err), os.RemoveAll(c.drive(id)))
	}
	return true, nil
}

// hosts are the lines of /etc/hosts by which a server knows its name.
func hosts(spec machineSpec) []string {
	var found []string
	for _, address := range spec.Addresses[:min(1, len(spec.Addresses))] {
		found = append(found, spec.Name+":"+address)
	}
	return found
}

// complete reports whether a server runs with all its interfaces.
func (c *containers) complete(ctx context.Context, id string) bool {
	c.lock.Lock()
	attached := c.attached[id]
	c.lock.Unlock()
	found, err := c.engine.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	return attached && err == nil && found.Container.State.Running
}

// start boots a server and attaches its interfaces. A server that runs already
// lost them with an earlier run of this program.
func (c *containers) start(ctx context.Context, id string, spec machineSpec) error {
	if _, err := c.engine.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("start of %s: %w", spec.Name, err)
	}
	c.lock.Lock()
	c.servers[id] = spec // first, so that its segments stay
	c.lock.Unlock()
	space, err := c.space(ctx, id)
	if err != nil {
		return fmt.Errorf("network namespace of %s: %w", spec.Name, err)
	}
	defer space.Close()
	for n, i := range spec.Interfaces {
		if err := c.connect(space, n, i); err != nil {
			return fmt.Errorf("interface %s of %s: %w", i.MAC, spec.Name, err)
		}
	}
	c.setAttached(id, true)
	klog.InfoS("Server started", "id", id, "name", spec.Name)
	return nil
}

func (c *containers) setAttached(id string, attached bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.attached[id] = attached
}

func (c *containers) connect(space netns.NsHandle, n int, i serverInterface) error {
	s, err := c.networks.segment(i.Network)
	if err != nil {
		return err
	}
	if i.Gateway != "" && len(i.Addresses) > 0 {
		if err := s.addGateway(i); err != nil {
			return fmt.Errorf("gateway %s: %w", i.Gateway, err)
		}
	}
	return s.attach(space, n, i)
}

// space returns the network namespace of a container. The engine has namespaces
// of its own, so neither its paths nor its process ids are those of the host.
func (c *containers) space(ctx context.Context, id string) (netns.NsHandle, error) {
	found, err := c.engine.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return netns.None(), err
	}
	path, err := engineProcess(c.engine, "root", found.Container.NetworkSettings.SandboxKey)
	if err != nil {
		return netns.None(), err
	}
	return netns.GetFromPath(path)
}

// engineProcess returns a path below the folder of the engine in /proc.
func engineProcess(engine *client.Client, path ...string) (string, error) {
	pid, err := peer(strings.TrimPrefix(engine.DaemonHost(), "unix://"))
	return filepath.Join(append([]string{"/proc", fmt.Sprint(pid)}, path...)...), err
}

// peer returns the id of the process that listens on a unix socket.
func peer(path string) (int32, error) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var credentials *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		credentials, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = cmp.Or(err, failed); err != nil {
		return 0, err
	}
	return credentials.Pid, nil
}

func (c *containers) list(ctx context.Context) ([]machineView, error) {
	found, err := c.engine.ContainerList(ctx, client.ContainerListOptions{All: true,
		Filters: client.Filters{}.Add("label", serverLabel).Add("label", ownerLabel+"="+c.owner)})
	if err != nil {
		return nil, err
	}
	views := make([]machineView, 0, len(found.Items))
	for _, o := range found.Items {
		views = append(views, machineView{ID: o.Labels[serverLabel], Name: o.Labels[serverLabel+".name"], State: powerState(o.State)})
	}
	return views, nil
}

func powerState(state container.ContainerState) string {
	if state == container.StateRunning {
		return stateRunning
	}
	return stateStopped
}

func (c *containers) view(ctx context.Context, id string) (machineView, error) {
	if !uuidPattern.MatchString(id) {
		return machineView{}, notFound(id, cerrdefs.ErrNotFound)
	}
	found, err := c.engine.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return machineView{}, notFound(id, err)
	}
	return machineView{ID: id, Name: found.Container.Config.Hostname, State: powerState(found.Container.State.Status)}, nil
}

func (c *containers) console(ctx context.Context, id string) (string, error) {
	if !uuidPattern.MatchString(id) {
		return "", notFound(id, cerrdefs.ErrNotFound)
	}
	logs, err := c.engine.ContainerLogs(ctx, id, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: consoleLines})
	if err != nil {
		return "", notFound(id, err)
	}
	defer logs.Close()
	text, err := io.ReadAll(io.LimitReader(logs, maxMachineBytes))
	return string(text), err
}

func (c *containers) power(ctx context.Context, id string, off, on bool) error {
	if !uuidPattern.MatchString(id) {
		return notFound(id, cerrdefs.ErrNotFound)
	}
	ctx, end := c.begin(ctx, id)
	defer end()
	if off {
		seconds := stopSeconds
		if _, err := c.engine.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &seconds}); err != nil {
			return notFound(id, err)
		}
		c.setAttached(id, false)
	}
	if !on || c.complete(ctx, id) {
		return nil
	}
	c.lock.Lock()
	spec, known := c.servers[id]
	c.lock.Unlock()
	if !known { // Nova puts it again, with its interfaces
		return notFound(id, cerrdefs.ErrNotFound)
	}
	return notFound(id, c.start(ctx, id, spec))
}

func (c *containers) remove(ctx context.Context, id string) error {
	if !uuidPattern.MatchString(id) {
		return nil
	}
	ctx, end := c.begin(ctx, id)
	defer end()
	return c.erase(ctx, id)
}

// erase removes a server, its config drive, and networks without servers.
func (c *containers) erase(ctx context.Context, id string) error {
	_, err := c.engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !cerrdefs.IsNotFound(err) {
		return err
	}
	c.lock.Lock()
	delete(c.servers, id)
	delete(c.attached, id)
	c.lock.Unlock()
	c.networks.release(c.uses)
	return os.RemoveAll(c.drive(id))
}

// uses reports whether a server has an interface in a network.
func (c *containers) uses(network string) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, spec := range c.servers {
		for _, i := range spec.Interfaces {
			if i.Network == network {
				return true
			}
		}
	}
	return false
}

func (c *containers) drive(id string) string { return filepath.Join(c.folder, id) }

// writeFiles writes files with secrets below a folder.
func writeFiles(folder string, files map[string][]byte) error {
	for path, content := range files {
		if !filepath.IsLocal(path) {
			return fmt.Errorf("%s is not below the drive", path)
		}
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// notFound translates the engine's error.
func notFound(id string, err error) error {
	if cerrdefs.IsNotFound(err) {
		return apierrors.NewNotFound(clusterv1.GroupVersion.WithResource("servers").GroupResource(), id)
	}
	return err
}
