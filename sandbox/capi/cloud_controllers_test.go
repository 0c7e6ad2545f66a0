// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// testControllers run a program that notes its arguments, and
// then sleeps, unless there is a file "end".
func testControllers(t *testing.T) *cloudControllers {
	t.Helper()
	folder := t.TempDir()
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >> "+folder+"/started\n[ ! -e "+folder+"/end ] || exit 1\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &cloudControllers{program: program, folder: folder, base: t.Context(), running: map[client.ObjectKey]*cloudController{}}
}

func (r *cloudControllers) starts(t *testing.T, count int) []string {
	t.Helper()
	var lines []string
	for range 200 {
		text, _ := os.ReadFile(filepath.Join(r.folder, "started"))
		lines = strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(text) > 0 && len(lines) >= count {
			return lines
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("not started %d times within 10 s: %q", count, lines)
	return nil
}

func TestACloudControllerRunsUntilItsAddonGoes(t *testing.T) {
	r, key := testControllers(t), client.ObjectKey{Namespace: namespace, Name: "c-ccm"}
	files := map[string][]byte{"kubeconfig": []byte("k"), "clouds.yaml": []byte("old")}
	for range 2 { // the second changes nothing
		if err := r.run(key, "c", files); err != nil {
			t.Fatal(err)
		}
	}
	first := r.starts(t, 1)[0]
	for _, argument := range []string{"--cluster-name=c", "--kubeconfig=" + r.path(key) + "/kubeconfig", "--secure-port=0"} {
		if !strings.Contains(first, argument) {
			t.Errorf("no %s in %s", argument, first)
		}
	}
	// when the credentials change, it starts again with them
	if err := r.run(key, "c", map[string][]byte{"kubeconfig": []byte("k"), "clouds.yaml": []byte("new")}); err != nil {
		t.Fatal(err)
	}
	check(t, "starts", len(r.starts(t, 2)), 2)
	content, err := os.ReadFile(filepath.Join(r.path(key), "clouds.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "credentials", string(content), "new")
	// when its addon goes, it ends
	c := r.running[key]
	r.end(key)
	select {
	case <-c.done:
	case <-time.After(10 * time.Second):
		t.Error("it has not ended")
	}
	check(t, "processes", len(r.running), 0)
}

func TestACloudControllerThatEndsIsStartedAgain(t *testing.T) {
	r, key := testControllers(t), client.ObjectKey{Namespace: namespace, Name: "c-ccm"}
	if err := os.WriteFile(filepath.Join(r.folder, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.run(key, "c", map[string][]byte{"kubeconfig": nil}); err != nil {
		t.Fatal(err)
	}
	r.starts(t, 2)
	r.end(key)
}

func TestTheCloudConfigurationIsThatOfTheCluster(t *testing.T) {
	infra := newObject(openStackCluster)
	set(infra, "net", "status", "externalNetwork", "id")
	text := string(cloudConfig(infra, "/x/clouds.yaml"))
	for _, line := range []string{"clouds-file = /x/clouds.yaml\n", "floating-network-id = net\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in %q", line, text)
		}
	}
	if strings.Contains(text, "lb-provider") {
		t.Errorf("a provider in %q", text)
	}
	set(infra, "ovn", "spec", "apiServerLoadBalancer", "provider")
	text = string(cloudConfig(infra, "/x/clouds.yaml"))
	if !strings.Contains(text, "lb-provider = ovn\nlb-method = SOURCE_IP_PORT\n") {
		t.Errorf("got %q", text)
	}
}
