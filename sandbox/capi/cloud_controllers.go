// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capicontrollerutil "sigs.k8s.io/cluster-api/util/controller"
	"sigs.k8s.io/cluster-api/util/secret"
)

// cloudControllerChart is the chart of the addon that installs the cloud
// controller manager.
const cloudControllerChart = "openstack-cloud-controller-manager"

// maxLog is the size at which a log is replaced when its program starts.
const maxLog = 10 << 20

// restartPause is the pause before a program that has ended starts again.
const restartPause = 2 * time.Second

// cloudControllers runs the cloud controller manager of each cluster that has
// its addon, as a process of this host: a pod could not reach the APIs of the
// sandbox, which listen on loopback. It has the credentials of its cluster.
type cloudControllers struct {
	addons  *addons
	program string
	folder  string
	base    context.Context

	lock    sync.Mutex
	running map[client.ObjectKey]*cloudController
}

// cloudController is one process with its files.
type cloudController struct {
	files map[string][]byte
	stop  context.CancelFunc
	done  chan struct{}
}

// addCloudControllers adds the processes to the stand-in for the addon provider.
func (p *providers) addCloudControllers(ctx context.Context, a *addons) {
	r := &cloudControllers{addons: a, program: p.options.cloudController, base: ctx,
		folder: p.options.machineSocket + ".controllers", running: map[client.ObjectKey]*cloudController{}}
	// Of an earlier process, whose addons may have gone meanwhile.
	must(os.RemoveAll(r.folder), "files of cloud controllers")
	must(capicontrollerutil.NewControllerManagedBy(p.mgr, ctrl.LoggerFrom(ctx)).Named("cloud-controller").
		For(newObject(helmRelease)).WithOptions(p.controllerOptions()).
		Watches(&clusterv1.Cluster{}, handler.EnqueueRequestsFromMapFunc(a.ofCluster)).
		Complete(ctx, r), "controller of cloud controllers")
}

func (r *cloudControllers) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := newObject(helmRelease)
	err := r.addons.client.Get(ctx, req.NamespacedName, o)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err != nil || o.GetDeletionTimestamp() != nil {
		r.end(req.NamespacedName)
		return ctrl.Result{}, os.RemoveAll(r.path(req.NamespacedName))
	}
	if nested(o, "spec", "chart", "name") != cloudControllerChart {
		r.end(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	cluster := &clusterv1.Cluster{}
	if err := r.addons.client.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: nested(o, "spec", "clusterName")}, cluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.end(req.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !installable(o, cluster) {
		return ctrl.Result{}, nil
	}
	files, err := r.files(ctx, cluster, r.path(req.NamespacedName))
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.run(req.NamespacedName, cluster.Name, files)
}

// files returns what the process reads: kubeconfig, credentials, options.
func (r *cloudControllers) files(ctx context.Context, cluster *clusterv1.Cluster, folder string) (map[string][]byte, error) {
	kubeconfig := &corev1.Secret{}
	if err := r.addons.reader.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: secret.Name(cluster.Name, secret.Kubeconfig)}, kubeconfig); err != nil {
		return nil, err
	}
	identity, err := r.addons.cloudIdentity(ctx, cluster)
	if err != nil {
		return nil, err
	}
	if identity == nil {
		return nil, fmt.Errorf("cluster %s has no credentials for its cloud", cluster.Name)
	}
	infra := newObject(openStackCluster)
	if err := r.addons.client.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}, infra); err != nil {
		return nil, err
	}
	return map[string][]byte{
		"kubeconfig":  kubeconfig.Data[secret.KubeconfigDataName],
		"clouds.yaml": identity.Data["clouds.yaml"],
		"cloud.conf":  cloudConfig(infra, filepath.Join(folder, "clouds.yaml")),
	}, nil
}

// cloudConfig has the options that the published chart sets, for the network and
// the provider of load balancers of the cluster.
func cloudConfig(infra *unstructured.Unstructured, clouds string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "[Global]\nuse-clouds = true\nclouds-file = %s\ncloud = openstack\n", clouds)
	fmt.Fprintf(&b, "[LoadBalancer]\nfloating-network-id = %s\n", nested(infra, "status", "externalNetwork", "id"))
	if provider := nested(infra, "spec", "apiServerLoadBalancer", "provider"); provider != "" {
		fmt.Fprintf(&b, "lb-provider = %s\n", provider)
		if provider == "ovn" { // as OVN has no other method
			fmt.Fprintln(&b, "lb-method = SOURCE_IP_PORT")
		}
	}
	return b.Bytes()
}

// run starts the process, or starts it again if its files have changed.
func (r *cloudControllers) run(key client.ObjectKey, cluster string, files map[string][]byte) error {
	r.lock.Lock()
	old, ok := r.running[key]
	r.lock.Unlock()
	if ok && maps.EqualFunc(old.files, files, bytes.Equal) {
		return nil
	}
	r.end(key)
	if err := writeFiles(r.path(key), files); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(r.base)
	c := &cloudController{files: files, stop: stop, done: make(chan struct{})}
	r.lock.Lock()
	r.running[key] = c
	r.lock.Unlock()
	go func() {
		defer close(c.done)
		for ctx.Err() == nil {
			err := r.process(ctx, r.path(key), cluster)
			if ctx.Err() != nil {
				return
			}
			klog.ErrorS(err, "Cloud controller manager ended", "cluster", cluster, "log", filepath.Join(r.path(key), "log"))
			select {
			case <-ctx.Done():
			case <-time.After(restartPause):
			}
		}
	}()
	return nil
}

// process runs the program until it ends or the context does. It opens no ports.
func (r *cloudControllers) process(ctx context.Context, folder, cluster string) error {
	path := filepath.Join(folder, "log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.CommandContext(ctx, r.program,
		"--kubeconfig="+filepath.Join(folder, "kubeconfig"), "--cloud-config="+filepath.Join(folder, "cloud.conf"),
		"--cloud-provider=openstack", "--cluster-name="+cluster, "--use-service-account-credentials=false",
		"--controllers=cloud-node-controller,cloud-node-lifecycle-controller,service-lb-controller",
		"--leader-elect=false", "--secure-port=0", "--webhook-secure-port=0")
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// The kernel sends the signal when the thread that has forked ends, so it is
	// kept until the program ends.
	return onThread(command.Run)
}

// end stops the process of an addon.
func (r *cloudControllers) end(key client.ObjectKey) {
	r.lock.Lock()
	c, ok := r.running[key]
	delete(r.running, key)
	r.lock.Unlock()
	if ok {
		c.stop()
		<-c.done
	}
}

func (r *cloudControllers) path(key client.ObjectKey) string {
	return filepath.Join(r.folder, key.Namespace, key.Name)
}
