// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// poor is a host without CAP_SYS_RESOURCE.
var poor = limits{
	capabilities: map[string]bool{"CAP_KILL": true},
	hard:         map[string]uint64{"RLIMIT_NOFILE": 20000},
	oom:          0,
}

func TestSpecification(t *testing.T) {
	for _, each := range []struct {
		line, file string
		whole      bool
	}{
		{"--root /r --log=/l create --bundle /b --pid-file /p id",
			"/b/config.json", false},
		{"--root create run -b=/b id", "/b/config.json", false},
		{"run id", "config.json", false},
		{"--log-format json exec -p /proc.json --detach id",
			"/proc.json", true},
		{"exec id true", "", true},
		{"delete --force create", "", false},
		{"--version", "", false},
	} {
		file, whole := specification(strings.Fields(each.line))
		if file != each.file || whole != each.whole {
			t.Errorf("%s: %q %v", each.line, file, whole)
		}
	}
}

func rewritten(t *testing.T, text string, whole bool, own limits) any {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rewrite(file, whole, own); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found any
	decoder := json.NewDecoder(strings.NewReader(string(content)))
	decoder.UseNumber()
	if err := decoder.Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestLowers(t *testing.T) {
	process := `{
		"capabilities": {"bounding": ["CAP_KILL", "CAP_SYS_RESOURCE"]},
		"oomScoreAdj": -998,
		"rlimits": [
			{"type": "RLIMIT_NOFILE", "hard": 1048576, "soft": 1024},
			{"type": "RLIMIT_CORE", "hard": 18446744073709551615,
			 "soft": 18446744073709551615}]}`
	wanted := `{
		"capabilities": {"bounding": ["CAP_KILL"]},
		"oomScoreAdj": 0,
		"rlimits": [
			{"type": "RLIMIT_NOFILE", "hard": 20000, "soft": 1024},
			{"type": "RLIMIT_CORE", "hard": 18446744073709551615,
			 "soft": 18446744073709551615}]}`
	rest := `, "linux": {"resources": {"memory": {"limit": 9007199254740993}}}}`
	same := limits{oom: -1000}
	for _, each := range []struct {
		given, wanted string
		whole         bool
	}{
		{process, wanted, true},
		{`{"process": ` + process + rest, `{"process": ` + wanted + rest, false},
		{`{"linux": {}}`, `{"linux": {}}`, false},
	} {
		found := rewritten(t, each.given, each.whole, poor)
		// Of a rich host, which changes no number and takes no capability.
		expected := rewritten(t, each.wanted, each.whole, limits{
			capabilities: poor.capabilities, hard: same.hard, oom: same.oom})
		if !reflect.DeepEqual(found, expected) {
			t.Errorf("%v", found)
		}
	}
}

func TestOwnLimits(t *testing.T) {
	own, err := ownLimits()
	if err != nil {
		t.Fatal(err)
	}
	if own.capabilities["CAP_SYS_RESOURCE"] != (len(own.hard) == 0) {
		t.Error(own)
	}
}

func TestRealRunc(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "runc")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	candidates = []string{"/none", link, "/proc/version"}
	if found, err := realRunc(); err != nil || found != "/proc/version" {
		t.Error(found, err)
	}
	candidates = []string{"/none", link}
	if _, err := realRunc(); err == nil {
		t.Error("took itself")
	}
	t.Setenv("REAL_RUNC", "/named")
	if found, _ := realRunc(); found != "/named" {
		t.Error(found)
	}
}
