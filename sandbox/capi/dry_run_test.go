// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

// change sends a request as an administrator.
func (s *served) change(who *clientCert, method, path, body string, header ...string) answer {
	s.t.Helper()
	a, err := s.ask(who, "", method, path, body, "", header...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func configMap(name, version, value string) string {
	return fmt.Sprintf(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":"default","resourceVersion":%q},"data":{"a":%q}}`, name, version, value)
}

func TestDryRunsChangeNothing(t *testing.T) {
	s := newServed(t)
	admin := s.ca.client(t, "a", "system:masters")
	there := s.change(admin, http.MethodPost, configMaps, configMap("there", "", "old"))
	check(t, "create", there.code, 200)
	before := s.get(admin, configMaps).body
	var stored struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal([]byte(there.body), &stored); err != nil {
		t.Fatal(err)
	}
	version := stored.Metadata.ResourceVersion
	const merge = "application/merge-patch+json"
	const protobuf = "k8s\x00\n\x13\n\x02v1\x12\rDeleteOptions\x12\x05*\x03All"
	for name, c := range map[string]struct {
		method, path, body, kind string
		code                     int
		says                     string
	}{
		"create":                   {"POST", configMaps + "?dryRun=All", configMap("new", "", "x"), "", 200, `"name":"new"`},
		"create again":             {"POST", configMaps + "?dryRun=All", configMap("there", "", "x"), "", 409, "AlreadyExists"},
		"create a namespace":       {"POST", "/api/v1/namespaces?dryRun=All", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"x"}}`, "", 200, `"name":"x"`},
		"create nonsense":          {"POST", configMaps + "?dryRun=Some", configMap("new", "", "x"), "", 422, "Unsupported value"},
		"update":                   {"PUT", configMaps + "/there?dryRun=All", configMap("there", version, "new"), "", 200, `"a":"new"`},
		"update an old one":        {"PUT", configMaps + "/there?dryRun=All", configMap("there", "1000", "new"), "", 409, "Conflict"},
		"update nothing":           {"PUT", configMaps + "/none?dryRun=All", configMap("none", "", "new"), "", 404, "NotFound"},
		"patch":                    {"PATCH", configMaps + "/there?dryRun=All", `{"data":{"a":null,"b":"new"}}`, merge, 200, `"data":{"b":"new"}`},
		"delete":                   {"DELETE", configMaps + "/there?dryRun=All", "", "", 200, "Success"},
		"delete, as kubectl":       {"DELETE", configMaps + "/there", `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`, "", 200, "Success"},
		"delete, as clients of Go": {"DELETE", configMaps + "/there", protobuf, "application/vnd.kubernetes.protobuf", 200, "Success"},
		"delete nothing":           {"DELETE", configMaps + "/none?dryRun=All", "", "", 404, "NotFound"},
	} {
		t.Run(name, func(t *testing.T) {
			var header []string
			if c.kind != "" {
				header = []string{"Content-Type", c.kind}
			}
			a := s.change(admin, c.method, c.path, c.body, header...)
			check(t, "code", a.code, c.code)
			if !strings.Contains(compact(a.body), c.says) {
				t.Errorf("not in the answer: %s\n%s", c.says, a.body)
			}
			check(t, "objects", s.get(admin, configMaps).body, before)
		})
	}
	check(t, "namespace", s.get(admin, "/api/v1/namespaces/x").code, 404)

	// The same without a dry run.
	check(t, "patch", s.change(admin, "PATCH", configMaps+"/there", `{"data":{"b":"new"}}`, "Content-Type", merge).code, 200)
	check(t, "delete", s.change(admin, "DELETE", configMaps+"/there", `{"kind":"DeleteOptions","apiVersion":"v1"}`).code, 200)
	check(t, "deleted", s.get(admin, configMaps+"/there").code, 404)
}
