// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const namespace = "magnum-demo"

// instant is the beginning of every test, the only time that reconcilers see.
var instant = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func testScheme() *runtime.Scheme {
	s := newScheme()
	for _, gvk := range []schema.GroupVersionKind{openStackCluster, openStackMachine, openStackServer, openStackMachineTemplate, helmRelease, manifests} {
		s.AddKnownTypeWithName(gvk, &unstructured.Unstructured{})
		s.AddKnownTypeWithName(listKind(gvk), &unstructured.UnstructuredList{})
	}
	return s
}

func testClient(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(testScheme()).WithObjects(objects...).
		WithStatusSubresource(newObject(openStackCluster), newObject(openStackMachine), newObject(openStackServer), newObject(helmRelease), newObject(manifests)).Build()
}

func testWorkloads(t *testing.T, reader client.Reader) *workloads {
	t.Helper()
	manager := inmemoryruntime.NewManager(newWorkloadScheme())
	if err := manager.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := newWorkloads(manager, reader)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func testCluster(name string) *clusterv1.Cluster {
	yes := true
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(name)}}
	c.Status.Initialization.InfrastructureProvisioned = &yes
	return c
}

func owned(o *unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	o.SetNamespace(namespace)
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: kind, Name: name, UID: types.UID(name)}})
	return o
}

func get(t *testing.T, c client.Client, gvk schema.GroupVersionKind, name string) *unstructured.Unstructured {
	t.Helper()
	o := newObject(gvk)
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// testCA is a certificate authority like those of the control plane provider.
type testCA struct {
	cert *x509.Certificate
	key  *rsa.PrivateKey
}

// rsaKeys are made once: that is slow, and each CA must have its own.
var rsaKeys = sync.OnceValue(func() (keys []*rsa.PrivateKey) {
	for range 3 {
		key, err := certs.NewPrivateKey()
		if err != nil {
			panic(err)
		}
		keys = append(keys, key)
	}
	return keys
})

// newTestCA returns the n-th of three CAs.
func newTestCA(t *testing.T, n int) *testCA {
	t.Helper()
	key := rsaKeys()[n]
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), crypto.Signer(key))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return &testCA{cert, key}
}

func (ca *testCA) secret(cluster string, purpose secret.Purpose) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: secret.Name(cluster, purpose)},
		Data: map[string][]byte{
			secret.TLSCrtDataName: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw}),
			secret.TLSKeyDataName: certs.EncodePrivateKeyPEM(ca.key),
		}}
}

func (ca *testCA) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	return pool
}

func (ca *testCA) client(t *testing.T, name string, groups ...string) *clientCert {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := (&certs.Config{CommonName: name, Organization: groups,
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}).NewSignedCert(key, ca.cert, ca.key)
	if err != nil {
		t.Fatal(err)
	}
	return &clientCert{cert, key}
}

type clientCert struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func freePort(t *testing.T, host string) int32 {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return int32(l.Addr().(*net.TCPAddr).Port)
}
