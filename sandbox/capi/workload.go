// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryapi "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server/api"
	inmemoryetcd "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server/etcd"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// workloads serves the API server and the etcd members of the in-memory
// clusters. It is built from the same public handlers as Cluster API's own
// WorkloadClustersMux, with three differences: each cluster has a listener on
// its own loopback address, and thus the usual port; nothing listens anywhere
// else; and clients are authenticated against the cluster's CA.
type workloads struct {
	manager inmemoryruntime.Manager
	reader  client.Reader // of the management cluster
	key     crypto.Signer // of all serving certificates
	listen  listen
	version func(context.Context, client.ObjectKey) string // of a cluster's control plane

	lock       sync.Mutex
	servers    map[client.ObjectKey]*http.Server
	registered map[client.ObjectKey]sets.Set[string] // nodes, by their kubelets since these run

	etcdLock sync.Mutex
}

func newWorkloads(manager inmemoryruntime.Manager, reader client.Reader) (*workloads, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w := &workloads{manager: manager, reader: reader, key: key, listen: listenOnLoopback,
		servers: map[client.ObjectKey]*http.Server{}, registered: map[client.ObjectKey]sets.Set[string]{}}
	w.version = w.declaredVersion
	return w, err
}

// listen opens the port of an API server.
type listen func(ctx context.Context, host string, port int32) (net.Listener, error)

func listenOnLoopback(ctx context.Context, host string, port int32) (net.Listener, error) {
	if err := checkLoopback("control plane endpoint", host); err != nil {
		return nil, err
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, fmt.Sprint(port)))
}

// client returns a client for the content of a workload cluster.
func (w *workloads) client(cluster client.ObjectKey) inmemoryruntime.Client {
	return w.manager.GetResourceGroup(cluster.String()).GetClient()
}

// authority is one of the CAs that the control plane provider or a driver makes
// for a cluster.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pool *x509.CertPool
}

func (w *workloads) authority(ctx context.Context, cluster client.ObjectKey, purpose secret.Purpose) (*authority, error) {
	s := &corev1.Secret{}
	name := secret.Name(cluster.Name, purpose)
	if err := w.reader.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, s); err != nil {
		return nil, err
	}
	a, err := parseAuthority(s.Data[secret.TLSCrtDataName], s.Data[secret.TLSKeyDataName])
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", name, err)
	}
	return a, nil
}

// parseAuthority reads a CA in PEM.
func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	cert, err := certs.DecodeCertPEM(certPEM)
	if err == nil && cert == nil {
		err = errors.New("no certificate in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", secret.TLSCrtDataName, err)
	}
	key, err := certs.DecodePrivateKeyPEM(keyPEM)
	if err == nil && key == nil {
		err = errors.New("no private key in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", secret.TLSKeyDataName, err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert, key, pool}, nil
}

// authorities are the CAs of a cluster; they are read when it starts.
type authorities func(context.Context, secret.Purpose) (*authority, error)

// authorities returns the CAs of a cluster in the management cluster.
func (w *workloads) authorities(cluster client.ObjectKey) authorities {
	return func(ctx context.Context, purpose secret.Purpose) (*authority, error) {
		return w.authority(ctx, cluster, purpose)
	}
}

// serves reports whether the API server of a cluster runs.
func (w *workloads) serves(cluster client.ObjectKey) bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.servers[cluster] != nil
}

// serve starts the API server of a cluster, unless it is running.
func (w *workloads) serve(ctx context.Context, cluster client.ObjectKey, host string, port int32, of authorities) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if _, ok := w.servers[cluster]; ok {
		return nil
	}
	api, err := of(ctx, secret.ClusterCA)
	if err != nil {
		return err
	}
	etcd, err := of(ctx, secret.EtcdCA)
	if err != nil {
		return err
	}
	listener, err := w.listen(ctx, host, port)
	if err != nil {
		return fmt.Errorf("API server of cluster %s: %w", cluster, err)
	}
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          klog.NewStandardLogger("INFO"),
		TLSConfig:         (&tlsConfigs{host: host, key: w.key, api: api, etcd: etcd}).config(),
		Handler:           w.handler(cluster, api.pool),
	}
	w.servers[cluster] = server
	go func() {
		if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			klog.ErrorS(err, "Workload API server", "cluster", cluster)
		}
	}()
	klog.InfoS("Workload API server started", "cluster", cluster, "address", listener.Addr())
	return nil
}

// handler distinguishes etcd members from the API server by the server name of
// the connection: the control plane provider forwards a port of an etcd pod,
// which leads here again, and asks for "etcd-<node>".
func (w *workloads) handler(cluster client.ObjectKey, clientCAs *x509.CertPool) http.Handler {
	group := func(string) (string, error) { return cluster.String(), nil }
	etcd := inmemoryetcd.NewEtcdServerHandler(w.manager, klog.Background(), group)
	api := newAPIServer(clientCAs,
		func(ctx context.Context) string { return w.version(ctx, cluster) },
		inmemoryapi.NewAPIServerHandler(w.manager, klog.Background(), group),
		inmemoryapi.NewAPIServerHandler(dryRuns{w.manager}, klog.Background(), group))
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if isEtcdName(r.TLS.ServerName) && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			etcd.ServeHTTP(rw, r)
			return
		}
		api.ServeHTTP(rw, r)
	})
}

func isEtcdName(serverName string) bool { return strings.HasPrefix(serverName, "etcd-") }

// tlsConfigs makes the TLS configuration of a server name when first used.
type tlsConfigs struct {
	host      string
	key       crypto.Signer
	api, etcd *authority

	lock   sync.Mutex
	byName map[string]*tls.Config
}

func (t *tlsConfigs) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: t.forClient}
}

func (t *tlsConfigs) forClient(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	// etcd requires a certificate in the handshake. An API server does not:
	// it must be able to answer 401, and checks certificates itself.
	name, ca, auth := "kube-apiserver", t.api, tls.RequestClientCert
	if isEtcdName(hello.ServerName) {
		name, ca, auth = hello.ServerName, t.etcd, tls.RequireAndVerifyClientCert
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	if c, ok := t.byName[name]; ok {
		return c, nil
	}
	cert, err := (&certs.Config{
		CommonName: name,
		AltNames: certs.AltNames{
			DNSNames: []string{"localhost", name, "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
			IPs:      []net.IP{net.ParseIP(t.host), net.IPv4(127, 0, 0, 1)},
		},
		Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}).NewSignedCert(t.key, ca.cert, ca.key)
	if err != nil {
		return nil, err
	}
	if t.byName == nil {
		t.byName = map[string]*tls.Config{}
	}
	t.byName[name] = &tls.Config{
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: t.key}},
		ClientAuth:   auth,
		ClientCAs:    ca.pool,
	}
	return t.byName[name], nil
}

// stop stops the API server of a cluster, whose content stays on its disks.
func (w *workloads) stop(cluster client.ObjectKey) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.close(cluster)
}

// close ends the API server of a cluster; the caller holds the lock.
func (w *workloads) close(cluster client.ObjectKey) {
	if s, ok := w.servers[cluster]; ok {
		_ = s.Close()
		delete(w.servers, cluster)
		klog.InfoS("Workload API server stopped", "cluster", cluster)
	}
}

// remove stops the API server of a cluster and drops its content.
func (w *workloads) remove(cluster client.ObjectKey) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.close(cluster)
	delete(w.registered, cluster)
	w.manager.DeleteResourceGroup(cluster.String())
}
