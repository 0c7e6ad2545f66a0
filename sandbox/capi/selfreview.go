// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// codecs read and write, in JSON and in protobuf, the objects that do not go
// through the in-memory handler.
var codecs = serializer.NewCodecFactory(clientgoscheme.Scheme).WithoutConversion()

const maxReviewBytes = 1 << 20

// answerSelfReview answers what `kubectl auth can-i` and `kubectl auth whoami`
// ask, by the same rule that the API server applies.
func answerSelfReview(rw http.ResponseWriter, r *http.Request, who user.Info) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxReviewBytes))
	if err != nil {
		respondError(rw, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	obj, gvk, err := clientgoscheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		respondError(rw, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	answer, err := selfReview(obj, who)
	if err != nil {
		respondError(rw, r, apierrors.NewBadRequest(err.Error()))
		return
	}
	answer.GetObjectKind().SetGroupVersionKind(*gvk)
	responsewriters.WriteObjectNegotiated(codecs, negotiation.DefaultEndpointRestrictions, gvk.GroupVersion(), rw, r, http.StatusCreated, answer, false)
}

func selfReview(obj k8sruntime.Object, who user.Info) (k8sruntime.Object, error) {
	masters := slices.Contains(who.GetGroups(), user.SystemPrivilegedGroup)
	switch o := obj.(type) {
	case *authorizationv1.SelfSubjectAccessReview:
		o.Status.Allowed = allowed(who, reviewInfo(o.Spec))
	case *authorizationv1.SelfSubjectRulesReview:
		o.Status.ResourceRules = []authorizationv1.ResourceRule{}
		o.Status.NonResourceRules = []authorizationv1.NonResourceRule{
			{Verbs: []string{"get"}, NonResourceURLs: []string{"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/readyz", "/version"}},
		}
		if masters {
			o.Status.ResourceRules = []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}}
			o.Status.NonResourceRules = []authorizationv1.NonResourceRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}}
		}
	case *authenticationv1.SelfSubjectReview:
		o.CreationTimestamp = metav1.Now()
		o.Status.UserInfo = authenticationv1.UserInfo{Username: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups()}
		for k, v := range who.GetExtra() {
			if o.Status.UserInfo.Extra == nil {
				o.Status.UserInfo.Extra = map[string]authenticationv1.ExtraValue{}
			}
			o.Status.UserInfo.Extra[k] = v
		}
	default:
		return nil, fmt.Errorf("%T is not a review of oneself", obj)
	}
	return obj, nil
}

// reviewInfo turns a review into the request that it asks about.
func reviewInfo(spec authorizationv1.SelfSubjectAccessReviewSpec) *request.RequestInfo {
	if n := spec.NonResourceAttributes; n != nil {
		return &request.RequestInfo{Path: n.Path, Verb: n.Verb}
	}
	a := spec.ResourceAttributes
	if a == nil {
		a = &authorizationv1.ResourceAttributes{}
	}
	return &request.RequestInfo{IsResourceRequest: true, Verb: a.Verb, APIGroup: a.Group, APIVersion: a.Version,
		Resource: a.Resource, Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name}
}
