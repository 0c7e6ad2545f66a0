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
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

// maxMachineBytes is the largest request: Nova's user data is 64 KiB at most.
const maxMachineBytes = 1 << 20

// machineView is the service's representation of a machine.
type machineView struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	State   string  `json:"state"`
	Console *string `json:"console,omitempty"`
}

// serveMachines answers on a unix socket that only this user can open, until
// the context ends.
func serveMachines(ctx context.Context, path string, s *machines) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	old := syscall.Umask(0o177)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	syscall.Umask(old)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: machineHandler(s), ReadHeaderTimeout: 10 * time.Second, ErrorLog: klog.NewStandardLogger("INFO")}
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

func machineHandler(s *machines) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /machines", func(rw http.ResponseWriter, _ *http.Request) {
		writeJSON(rw, http.StatusOK, map[string]any{"machines": s.list()})
	})
	mux.HandleFunc("GET /machines/{id}", func(rw http.ResponseWriter, r *http.Request) {
		view, err := s.view(r.PathValue("id"))
		if err != nil {
			writeProblem(rw, err)
			return
		}
		writeJSON(rw, http.StatusOK, view)
	})
	mux.HandleFunc("PUT /machines/{id}", func(rw http.ResponseWriter, r *http.Request) {
		var spec machineSpec
		body, err := io.ReadAll(io.LimitReader(r.Body, maxMachineBytes))
		if err == nil {
			err = json.Unmarshal(body, &spec)
		}
		created := false
		if err == nil {
			created, err = s.put(r.PathValue("id"), spec)
		}
		switch {
		case err != nil:
			writeJSON(rw, http.StatusBadRequest, map[string]string{"message": err.Error()})
		case created:
			writeJSON(rw, http.StatusCreated, map[string]string{})
		default:
			writeJSON(rw, http.StatusOK, map[string]string{})
		}
	})
	mux.HandleFunc("DELETE /machines/{id}", func(rw http.ResponseWriter, r *http.Request) {
		finish(rw, s.remove(context.WithoutCancel(r.Context()), r.PathValue("id")))
	})
	for action, power := range map[string][2]bool{"stop": {true, false}, "start": {false, true}, "reboot": {true, true}} {
		mux.HandleFunc("POST /machines/{id}/"+action, func(rw http.ResponseWriter, r *http.Request) {
			finish(rw, s.power(context.WithoutCancel(r.Context()), r.PathValue("id"), power[0], power[1]))
		})
	}
	return mux
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
	if apierrors.IsNotFound(err) {
		code = http.StatusNotFound
	}
	writeJSON(rw, code, map[string]string{"message": err.Error()})
}

func (s *machines) list() []machineView {
	s.lock.Lock()
	defer s.lock.Unlock()
	views := make([]machineView, 0, len(s.byID))
	for _, m := range s.byID {
		views = append(views, machineView{ID: m.id, Name: m.spec.Name, State: m.state})
	}
	return views
}

func (s *machines) view(id string) (machineView, error) {
	m, err := s.get(id)
	if err != nil {
		return machineView{}, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	console := strings.Join(m.messages, "\n")
	return machineView{ID: m.id, Name: m.spec.Name, State: m.state, Console: &console}, nil
}
