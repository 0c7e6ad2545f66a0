// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/moby/moby/client"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// maxMachineBytes is the largest request. Nova's user data is 64 KiB at most, and
// a config drive has it once for each of its 13 versions.
const maxMachineBytes = 4 << 20

// machineView is the service's representation of a machine.
type machineView struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
}

// machineService answers on a unix socket that only this user can open.
type machineService struct {
	hypervisor hypervisor
	balancers  *balancers // nil: load balancers forward nothing
	serving    atomic.Bool
}

// machines adds the machine service, in place of the stand-in for Cluster API
// Provider OpenStack.
func (p *providers) machines(ctx context.Context, w *workloads) {
	e, err := newEndpoints(p.options.endpointNetwork)
	must(err, "--endpoint-network")
	s := &machineService{}
	if p.options.dockerOwner != "" {
		engine, err := client.New(client.FromEnv)
		must(err, "container engine")
		if !p.options.clusterAPI {
			path, err := engineProcess(engine, "ns", "net")
			must(err, "container engine")
			must(e.reachFromEngine(path), "network of the container engine")
		}
		must(e.offer(ctx, p.options.bindAddress, p.options.servicePorts), "--service-ports")
		s.balancers, err = newBalancers(ctx, p.options.machineSocket+".forwarding", e)
		must(err, "load balancers")
		s.hypervisor = newContainers(engine, p.options.dockerOwner, p.options.machineSocket+".drives", s.balancers)
	} else {
		s.hypervisor = p.inMemory(ctx, w, e)
	}
	must(p.mgr.AddReadyzCheck("machines", func(*http.Request) error {
		if !s.serving.Load() {
			return errors.New("the machine service does not listen yet")
		}
		return nil
	}), "ready check")
	must(p.mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		defer e.close()
		return s.serve(ctx, p.options.machineSocket)
	})), "machine service")
}

// inMemory returns the hypervisor of servers in memory.
func (p *providers) inMemory(ctx context.Context, w *workloads, e *endpoints) *machines {
	w.listen = e.listen
	reader := &openStackMachines{client: p.client}
	m := newMachines(ctx, w, p.options.behaviours)
	m.deployedCNI = reader.deployedCNIAt
	_, err := p.mgr.GetCache().GetInformer(ctx, newObject(helmRelease))
	must(err, "HelmRelease informer")
	return m
}

// serve answers until the context ends.
func (s *machineService) serve(ctx context.Context, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	old := syscall.Umask(0o177)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	syscall.Umask(old)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: klog.NewStandardLogger("INFO")}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	s.serving.Store(true)
	klog.InfoS("Machine service started", "socket", path)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (s *machineService) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /machines", func(rw http.ResponseWriter, r *http.Request) {
		views, err := s.hypervisor.list(r.Context())
		show(rw, map[string]any{"machines": views}, err)
	})
	mux.HandleFunc("GET /machines/{id}", func(rw http.ResponseWriter, r *http.Request) {
		view, err := s.hypervisor.view(r.Context(), r.PathValue("id"))
		show(rw, view, err)
	})
	mux.HandleFunc("GET /machines/{id}/console", func(rw http.ResponseWriter, r *http.Request) {
		text, err := s.hypervisor.console(r.Context(), r.PathValue("id"))
		show(rw, map[string]string{"console": text}, err)
	})
	mux.HandleFunc("PUT /machines/{id}", func(rw http.ResponseWriter, r *http.Request) {
		var spec machineSpec
		created, err := false, readJSON(r, &spec)
		if err == nil {
			created, err = s.hypervisor.put(context.WithoutCancel(r.Context()), r.PathValue("id"), spec)
		}
		switch {
		case err != nil:
			writeProblem(rw, err)
		case created:
			writeJSON(rw, http.StatusCreated, map[string]string{})
		default:
			writeJSON(rw, http.StatusOK, map[string]string{})
		}
	})
	mux.HandleFunc("DELETE /machines/{id}", func(rw http.ResponseWriter, r *http.Request) {
		finish(rw, s.hypervisor.remove(context.WithoutCancel(r.Context()), r.PathValue("id")))
	})
	for action, power := range map[string][2]bool{"stop": {true, false}, "start": {false, true}, "reboot": {true, true}} {
		mux.HandleFunc("POST /machines/{id}/"+action, func(rw http.ResponseWriter, r *http.Request) {
			finish(rw, s.hypervisor.power(context.WithoutCancel(r.Context()), r.PathValue("id"), power[0], power[1]))
		})
	}
	if s.balancers != nil {
		forwarded(mux, "balancers", s.balancers, func(f *forwarding) map[string]balancer { return f.Balancers })
		forwarded(mux, "floating-ips", s.balancers, func(f *forwarding) map[string]floatingIP { return f.FloatingIPs })
	}
	return mux
}

// forwarded adds PUT and DELETE for objects that are forwarding's.
func forwarded[T interface{ check(*balancers) error }](mux *http.ServeMux, name string, b *balancers, of func(*forwarding) map[string]T) {
	mux.HandleFunc("PUT /"+name+"/{id}", func(rw http.ResponseWriter, r *http.Request) {
		var object T
		err := readJSON(r, &object)
		if err == nil {
			err = object.check(b)
		}
		if err != nil {
			writeProblem(rw, err)
			return
		}
		id := r.PathValue("id")
		finish(rw, b.change(id, func(f *forwarding) {
			of(f)[id] = object
			f.deduplicate(id)
		}))
	})
	mux.HandleFunc("DELETE /"+name+"/{id}", func(rw http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		finish(rw, b.change(id, func(f *forwarding) { delete(of(f), id) }))
	})
}

func readJSON(r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMachineBytes))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return badRequest(err)
	}
	return nil
}

// badRequest returns an error of the caller.
func badRequest(err error) error { return apierrors.NewBadRequest(err.Error()) }

// show answers with an object, or with what is wrong.
func show(rw http.ResponseWriter, object any, err error) {
	if err != nil {
		writeProblem(rw, err)
		return
	}
	writeJSON(rw, http.StatusOK, object)
}

func finish(rw http.ResponseWriter, err error) {
	if err != nil {
		writeProblem(rw, err)
		return
	}
	rw.WriteHeader(http.StatusNoContent)
}

func writeProblem(rw http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	switch {
	case apierrors.IsNotFound(err):
		code = http.StatusNotFound
	case apierrors.IsBadRequest(err):
		code = http.StatusBadRequest
	}
	writeJSON(rw, code, map[string]string{"message": err.Error()})
}

func (s *machines) list(context.Context) ([]machineView, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	views := make([]machineView, 0, len(s.byID))
	for _, m := range s.byID {
		views = append(views, machineView{ID: m.id, Name: m.spec.Name, State: m.state})
	}
	return views, nil
}

func (s *machines) view(_ context.Context, id string) (machineView, error) {
	m, err := s.get(id)
	if err != nil {
		return machineView{}, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	return machineView{ID: m.id, Name: m.spec.Name, State: m.state}, nil
}

func (s *machines) console(_ context.Context, id string) (string, error) {
	m, err := s.get(id)
	if err != nil {
		return "", err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	return strings.Join(m.messages, "\n"), nil
}
