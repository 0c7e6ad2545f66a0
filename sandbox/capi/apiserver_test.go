// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
)

const workloadHost = "127.87.1.1"

// served is a workload cluster on real TLS.
type served struct {
	t        *testing.T
	url      string
	ca, etcd *testCA
}

func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{t: t, ca: newTestCA(t, 0), etcd: newTestCA(t, 1)}
	cluster := testCluster("c")
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{Kind: "KubeadmControlPlane", Name: "c-control-plane"}
	kcp := &controlplanev1.KubeadmControlPlane{}
	kcp.Namespace, kcp.Name, kcp.Spec.Version = namespace, "c-control-plane", "v1.34.2"
	c := testClient(cluster, kcp, s.ca.secret("c", secret.ClusterCA), s.etcd.secret("c", secret.EtcdCA))
	w := testWorkloads(t, c)
	if err := w.create(context.Background(), key("c")); err != nil {
		t.Fatal(err)
	}
	port := freePort(t, workloadHost)
	if err := w.serve(context.Background(), key("c"), workloadHost, port, w.authorities(key("c"))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.remove(key("c")) })
	s.url = fmt.Sprintf("https://%s:%d", workloadHost, port)
	return s
}

type answer struct {
	code int
	body string
}

func (s *served) ask(who *clientCert, serverName, method, path, body, token string, header ...string) (answer, error) {
	s.t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(s.ca.cert)
	roots.AddCert(s.etcd.cert)
	config := &tls.Config{RootCAs: roots, ServerName: serverName}
	if who != nil {
		// Like curl: send the certificate whatever CAs the server names.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &tls.Certificate{Certificate: [][]byte{who.cert.Raw}, PrivateKey: who.key}, nil
		}
	}
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for ; len(header) > 1; header = header[2:] {
		r.Header.Set(header[0], header[1])
	}
	transport := &http.Transport{TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, strings.TrimSpace(string(b))}, err
}

func (s *served) get(who *clientCert, path string) answer {
	s.t.Helper()
	a, err := s.ask(who, "", http.MethodGet, path, "", "")
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

const unauthorized = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`

// compact removes the white space from a JSON document.
func compact(s string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(s)) != nil {
		return s
	}
	return b.String()
}

func TestOnlyValidCertificatesAreLetIn(t *testing.T) {
	s := newServed(t)
	admin := s.ca.client(t, "kubernetes-admin", "system:masters")
	foreign := newTestCA(t, 2).client(t, "kubernetes-admin", "system:masters")
	etcd := s.etcd.client(t, "kubernetes-admin", "system:masters")
	for name, c := range map[string]struct {
		who  *clientCert
		path string
		code int
	}{
		"no certificate":                 {nil, "/api/v1/nodes", 401},
		"another CA":                     {foreign, "/api/v1/nodes", 401},
		"another CA asks for health":     {foreign, "/healthz", 401},
		"the etcd CA of the cluster":     {etcd, "/api/v1/nodes", 401},
		"masters":                        {admin, "/api/v1/nodes", 200},
		"masters, secrets":               {admin, "/api/v1/namespaces/kube-system/secrets", 200},
		"health is public":               {nil, "/readyz", 200},
		"version is public":              {nil, "/version", 200},
		"discovery is not":               {nil, "/api", 401},
		"what begins with a public path": {nil, "/healthzz", 401},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.get(c.who, c.path)
			check(t, "code", a.code, c.code)
			if c.code == 401 {
				check(t, "body", compact(a.body), unauthorized)
			}
		})
	}
	a, err := s.ask(nil, "", http.MethodGet, "/healthz", "", "a-token")
	check(t, "token", fmt.Sprint(a.code, err), "401 <nil>")
}

func TestOthersThanMastersAreForbiddenInKubernetesWords(t *testing.T) {
	s := newServed(t)
	nobody := s.ca.client(t, "nobody")
	for path, message := range map[string]string{
		"/api/v1/nodes":    `nodes is forbidden: User "nobody" cannot list resource "nodes" in API group "" at the cluster scope`,
		"/api/v1/nodes/n1": `nodes "n1" is forbidden: User "nobody" cannot get resource "nodes" in API group "" at the cluster scope`,
		"/apis/apps/v1/namespaces/kube-system/deployments": `deployments.apps is forbidden: User "nobody" cannot list resource "deployments" in API group "apps" in the namespace "kube-system"`,
		"/metrics": `forbidden: User "nobody" cannot get path "/metrics"`,
	} {
		a := s.get(nobody, path)
		var status struct{ Kind, Reason, Message string }
		if err := json.Unmarshal([]byte(a.body), &status); err != nil {
			t.Fatal(err, a.body)
		}
		check(t, path, a.code, 403)
		check(t, path, status.Kind+" "+status.Reason, "Status Forbidden")
		check(t, path, status.Message, message)
	}
	check(t, "discovery", s.get(nobody, "/api").code, 200)
}

func TestVersionIsThatOfTheControlPlane(t *testing.T) {
	a := newServed(t).get(nil, "/version")
	var v struct{ Major, Minor, GitVersion string }
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatal(err)
	}
	check(t, "version", v, struct{ Major, Minor, GitVersion string }{"1", "34", "v1.34.2"})
}

func TestAnswersThatTheInMemoryHandlerLeavesOut(t *testing.T) {
	s := newServed(t)
	admin := s.ca.client(t, "a", "system:masters")
	a, err := s.ask(admin, "", http.MethodPost, "/api/v1/namespaces/default/configmaps",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x","namespace":"default"}}`, "")
	if err != nil || a.code >= 300 {
		t.Fatal(err, a)
	}
	a, _ = s.ask(admin, "", http.MethodDelete, "/api/v1/namespaces/default/configmaps/x", "", "")
	check(t, "deletion", a.code, 200)
	check(t, "deletion says success", strings.Contains(a.body, `"status":"Success"`), true)
	a = s.get(admin, "/api/v1/namespaces/default/configmaps/x")
	check(t, "not found", a.code, 404)
	check(t, "not found is a Status", strings.HasPrefix(compact(a.body), `{"kind":"Status","apiVersion":"v1"`), true)
	for _, path := range []string{"/apis/apps/v1/namespaces/default/statefulsets/x", "/apis/batch/v1/jobs"} {
		a = s.get(admin, path)
		check(t, path, a.code, 404)
		check(t, path, strings.Contains(a.body, "the server could not find the requested resource"), true)
	}
}

func TestEtcdWantsACertificateInTheHandshake(t *testing.T) {
	s := newServed(t)
	for name, who := range map[string]*clientCert{"none": nil, "of the API": s.ca.client(t, "a", "system:masters")} {
		if a, err := s.ask(who, "etcd-m1", http.MethodGet, "/", "", ""); err == nil {
			t.Errorf("%s: got %v", name, a)
		}
	}
	// An etcd client is let in, but not to the API.
	a, err := s.ask(s.etcd.client(t, "a", "system:masters"), "etcd-m1", http.MethodGet, "/api/v1/nodes", "", "")
	check(t, "API by the name of etcd", fmt.Sprint(a.code, err), "401 <nil>")
}

func TestNothingIsServedOutsideLoopback(t *testing.T) {
	w := testWorkloads(t, testClient(newTestCA(t, 0).secret("c", secret.ClusterCA), newTestCA(t, 1).secret("c", secret.EtcdCA)))
	if err := w.serve(context.Background(), key("c"), "0.0.0.0", 6443, w.authorities(key("c"))); err == nil {
		t.Error("accepted")
	}
}
