// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"runtime"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	k8sversion "k8s.io/apimachinery/pkg/version"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// apiServer adds to Cluster API's in-memory API server what it lacks in
// comparison with a real kube-apiserver: authentication by client certificate,
// a coarse authorization, health, version and dry runs. Names, groups and the
// wording of refusals come from kube-apiserver's own packages.
type apiServer struct {
	authenticator *x509request.Authenticator
	info          request.RequestInfoResolver
	version       func(context.Context) string
	objects       http.Handler
	dryRuns       http.Handler
}

func newAPIServer(clientCAs *x509.CertPool, version func(context.Context) string, objects, dryRuns http.Handler) *apiServer {
	verify := x509request.DefaultVerifyOptions() // client certificates
	verify.Roots = clientCAs
	return &apiServer{
		authenticator: x509request.New(verify, x509request.CommonNameUserConversion),
		info: server.NewRequestInfoResolver(&server.Config{
			LegacyAPIGroupPrefixes: sets.NewString(server.DefaultLegacyAPIPrefix),
		}),
		version: version,
		objects: objects,
		dryRuns: dryRuns,
	}
}

func (s *apiServer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	info, err := s.info.NewRequestInfo(r)
	if err != nil {
		responsewriters.InternalError(rw, r, err)
		return
	}
	who, ok := s.authenticate(r)
	if !ok || who == nil && !isPublic(info) {
		respondError(rw, r, apierrors.NewUnauthorized("Unauthorized"))
		return
	}
	ctx := request.WithRequestInfo(r.Context(), info)
	if who != nil {
		ctx = request.WithUser(ctx, who)
	}
	r = r.WithContext(ctx)
	if !allowed(who, info) {
		attributes, err := filters.GetAuthorizerAttributes(ctx)
		if err != nil {
			responsewriters.InternalError(rw, r, err)
			return
		}
		respondError(rw, r, responsewriters.ForbiddenStatusError(attributes, ""))
		return
	}
	s.answer(rw, r, info)
}

// authenticate returns the user of a request: nil if there is no credential,
// and false if a credential is not valid.
func (s *apiServer) authenticate(r *http.Request) (user.Info, bool) {
	if len(r.TLS.PeerCertificates) == 0 {
		return nil, r.Header.Get("Authorization") == "" // no tokens are valid here
	}
	resp, ok, err := s.authenticator.AuthenticateRequest(r)
	if err != nil || !ok {
		return nil, false
	}
	return &user.DefaultInfo{Name: resp.User.GetName(), UID: resp.User.GetUID(),
		Groups: append(slices.Clone(resp.User.GetGroups()), user.AllAuthenticated), Extra: resp.User.GetExtra()}, true
}

// isPublic covers what the cluster role system:public-info-viewer allows to all.
func isPublic(info *request.RequestInfo) bool {
	if info.IsResourceRequest {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(info.Path, "/"), "/")
	return info.Verb == "get" && slices.Contains([]string{"healthz", "livez", "readyz", "version"}, first)
}

// allowed covers what a fresh cluster allows: everything to system:masters,
// which bypasses authorizers, and discovery to all other authenticated users
// (cluster role system:discovery). Roles created in the cluster have no effect.
func allowed(who user.Info, info *request.RequestInfo) bool {
	if isPublic(info) {
		return true
	}
	if slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup) {
		return true
	}
	if info.IsResourceRequest {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(info.Path, "/"), "/")
	return info.Verb == "get" && slices.Contains([]string{"api", "apis", "openapi"}, first)
}

func (s *apiServer) answer(rw http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	switch {
	case isPublic(info) && info.Path == "/version":
		writeJSON(rw, http.StatusOK, versionInfo(s.version(r.Context())))
	case isPublic(info):
		writeHealth(rw, r)
	case info.IsResourceRequest && info.Verb != "watch" && info.Subresource == "":
		dry, err := isDryRun(r, info.Verb)
		if err != nil {
			respondError(rw, r, err)
			return
		}
		objects := s.objects
		if dry {
			objects = s.dryRuns
		}
		a := &answerWriter{ResponseWriter: rw}
		objects.ServeHTTP(a, r)
		a.finish(r)
	default:
		s.objects.ServeHTTP(rw, r)
	}
}

// writeHealth answers /healthz, /livez and /readyz, and their ?verbose form.
func writeHealth(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if _, verbose := r.URL.Query()["verbose"]; verbose {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		_, _ = rw.Write([]byte("[+]ping ok\n[+]etcd ok\n" + name + " check passed\n"))
		return
	}
	_, _ = rw.Write([]byte("ok"))
}

func versionInfo(gitVersion string) k8sversion.Info {
	info := k8sversion.Info{GitVersion: gitVersion, GitTreeState: "clean", Compiler: runtime.Compiler,
		GoVersion: runtime.Version(), Platform: "linux/amd64"}
	if v, err := utilversion.ParseSemantic(gitVersion); err == nil {
		c := v.Components()
		info.Major, info.Minor = utoa(c[0]), utoa(c[1])
	}
	return info
}

func utoa(u uint) string { b, _ := json.Marshal(u); return string(b) }

// declaredVersion returns the version of a cluster's control plane: the lowest
// of its machines, as a load balancer may choose the API server of any of them.
func (w *workloads) declaredVersion(ctx context.Context, key client.ObjectKey) string {
	cluster, kcp := &clusterv1.Cluster{}, &controlplanev1.KubeadmControlPlane{}
	if err := w.reader.Get(ctx, key, cluster); err != nil {
		return ""
	}
	if err := w.reader.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: cluster.Spec.ControlPlaneRef.Name}, kcp); err != nil {
		return ""
	}
	if kcp.Status.Version != "" {
		return kcp.Status.Version
	}
	return kcp.Spec.Version
}

func writeJSON(rw http.ResponseWriter, code int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(v)
}

// codecs write, in JSON and in protobuf, errors that do not come from the
// in-memory handler.
var codecs = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()

// respondError answers with a Status, in the encoding the client asked for.
func respondError(rw http.ResponseWriter, r *http.Request, err error) {
	responsewriters.RespondWithError(rw, r, err, codecs)
}

// unknownResource has the in-memory handler's messages for resources that it
// does not serve (requestToGVK).
var unknownResource = []string{"is not defined in the APIResourceList", "no APIResourceList defined"}

// noResource is kube-apiserver's error for them.
var noResource = &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusNotFound,
	Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}}

// answerWriter corrects three responses of the in-memory handler that break
// clients: an empty response to a deletion, errors as Go's form of a Status
// (wrapped into "ErrStatus", without kind), and 500 for an unknown resource.
type answerWriter struct {
	http.ResponseWriter
	code  int
	wrote bool
	body  bytes.Buffer // of an error
}

func (a *answerWriter) WriteHeader(code int) {
	a.code = code
	if code < http.StatusBadRequest {
		a.ResponseWriter.WriteHeader(code)
	}
}

func (a *answerWriter) Write(b []byte) (int, error) {
	a.wrote = true
	if a.code >= http.StatusBadRequest {
		return a.body.Write(b)
	}
	return a.ResponseWriter.Write(b)
}

func (a *answerWriter) finish(r *http.Request) {
	switch {
	case a.code >= http.StatusBadRequest:
		var wrapped struct{ ErrStatus *metav1.Status }
		if json.Unmarshal(a.body.Bytes(), &wrapped) == nil && wrapped.ErrStatus != nil {
			respondError(a.ResponseWriter, r, &apierrors.StatusError{ErrStatus: *wrapped.ErrStatus})
			return
		}
		if slices.ContainsFunc(unknownResource, func(s string) bool { return strings.Contains(a.body.String(), s) }) {
			respondError(a.ResponseWriter, r, noResource)
			return
		}
		a.ResponseWriter.WriteHeader(a.code)
		_, _ = a.ResponseWriter.Write(a.body.Bytes())
	case !a.wrote && r.Method == http.MethodDelete:
		writeJSON(a.ResponseWriter, http.StatusOK, metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess,
		})
	}
}
