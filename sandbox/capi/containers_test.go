// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"sigs.k8s.io/cluster-api/test/infrastructure/container"
)

// testEngine answers requests to a container engine on a unix socket.
func testEngine(t *testing.T, handler http.Handler) *client.Client {
	t.Helper()
	folder, err := os.MkdirTemp("", "e")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(folder, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = os.RemoveAll(folder)
	})
	engine, err := client.New(client.WithHost("unix://"+socket), client.WithAPIVersion("1.44"))
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func TestTheEngineIsFoundByItsSocket(t *testing.T) {
	engine := testEngine(t, http.NotFoundHandler())
	pid, err := peer(strings.TrimPrefix(engine.DaemonHost(), "unix://"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "process", pid, int32(os.Getpid()))
}

func TestServersThatCannotBeContainers(t *testing.T) {
	c := newContainers(testEngine(t, http.NotFoundHandler()), "/box", t.TempDir(), nil)
	for problem, server := range map[string]struct {
		id   string
		spec machineSpec
	}{
		"is not a server UUID":     {"../x", machineSpec{ImageProperties: map[string]string{"kube_version": "v1.36.5"}}},
		"no property kube_version": {serverID, machineSpec{Name: "s", Image: "i"}},
		"is not below the drive": {serverID, machineSpec{ImageProperties: map[string]string{"kube_version": "v1.36.5"},
			ConfigDrive: map[string][]byte{"../../etc/passwd": nil}}},
	} {
		if _, err := c.put(t.Context(), server.id, server.spec); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("got %v, want %q in it", err, problem)
		}
	}
}

func TestNothingIsLeftOfAServerThatTheEngineRefuses(t *testing.T) {
	engine := testEngine(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.Error(rw, `{"message":"No such container"}`, http.StatusNotFound)
			return
		}
		http.Error(rw, `{"message":"no space left on device"}`, http.StatusInternalServerError)
	}))
	folder := t.TempDir()
	c := newContainers(engine, "/box", folder, nil)
	_, err := c.put(t.Context(), serverID, machineSpec{Name: "s", ImageProperties: map[string]string{"kube_version": "v1.36.5"},
		ConfigDrive: map[string][]byte{"openstack/latest/user_data": []byte("secret")}})
	if err == nil || !strings.Contains(err.Error(), "container of s: ") || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("got %v", err)
	}
	left, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "config drives", len(left), 0)
}

func TestAConfigDriveIsItsOwnersOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "drive")
	if err := writeFiles(folder, map[string][]byte{"openstack/latest/user_data": []byte("secret")}); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{"": 0o700, "openstack/latest": 0o700, "openstack/latest/user_data": 0o600} {
		info, err := os.Stat(filepath.Join(folder, path))
		if err != nil {
			t.Fatal(err)
		}
		check(t, "mode of "+path, info.Mode().Perm(), mode)
	}
}

// lastRun keeps the input of the last container.
type lastRun struct {
	container.Runtime
	input *container.RunContainerInput
}

func (r *lastRun) RunContainer(_ context.Context, input *container.RunContainerInput, _ io.Writer) error {
	r.input = input
	return nil
}

func TestMachinesHaveTheirOwnerAsLabel(t *testing.T) {
	run := &lastRun{}
	err := labelled{Runtime: run, owner: "/box"}.RunContainer(t.Context(), &container.RunContainerInput{Labels: map[string]string{"a": "b"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "owner", run.input.Labels[ownerLabel], "/box")
	check(t, "label", run.input.Labels["a"], "b")
}

func TestServersOfOthersAreNotListed(t *testing.T) {
	var filters string
	c := newContainers(testEngine(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		filters = r.URL.Query().Get("filters")
		_, _ = rw.Write([]byte("[]"))
	})), "/box", t.TempDir(), nil)
	if _, err := c.list(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(filters, ownerLabel+"=/box") {
		t.Errorf("asked for %s", filters)
	}
}

func TestAServerKnowsItsName(t *testing.T) {
	check(t, "lines", strings.Join(hosts(machineSpec{Name: "s", Addresses: []string{"10.6.0.5", "10.7.0.5"}}), " "), "s:10.6.0.5")
	check(t, "lines without address", len(hosts(machineSpec{Name: "s"})), 0)
}
