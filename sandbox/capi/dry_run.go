// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryclient "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/client"
	"sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/resourcegroup"
)

// changeOptions has the kinds of the options of verbs that can be a dry run.
var changeOptions = map[string]string{"create": "CreateOptions", "update": "UpdateOptions", "patch": "PatchOptions", "delete": "DeleteOptions"}

// isDryRun reports whether a request asks for a dry run, which Cluster API's
// in-memory handler carries out. An error is kube-apiserver's.
func isDryRun(r *http.Request, verb string) (bool, error) {
	kind, ok := changeOptions[verb]
	if !ok {
		return false, nil
	}
	asked := r.URL.Query()["dryRun"]
	if verb == "delete" {
		// The body counts if there is one; clients of Go put all options there
		// (DeleteResource in pkg/endpoints/handlers/delete.go of k8s.io/apiserver).
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return false, apierrors.NewBadRequest(err.Error())
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if len(body) > 0 {
			options, err := deleteOptions(body)
			if err != nil {
				return false, apierrors.NewBadRequest(err.Error())
			}
			asked = options.DryRun
		}
	}
	if errs := validation.ValidateDryRun(field.NewPath("dryRun"), asked); len(errs) > 0 {
		return false, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
	}
	return len(asked) > 0, nil
}

// deleteOptions reads JSON or protobuf, of whatever group.
func deleteOptions(body []byte) (*metav1.DeleteOptions, error) {
	options := &metav1.DeleteOptions{}
	if raw, ok := bytes.CutPrefix(body, []byte("k8s\x00")); ok {
		unknown := &k8sruntime.Unknown{}
		if err := unknown.Unmarshal(raw); err != nil {
			return nil, err
		}
		return options, options.Unmarshal(unknown.Raw)
	}
	return options, json.Unmarshal(body, options)
}

// dryRuns shows the objects of in-memory clusters, checks changes as their cache
// does, and stores none.
type dryRuns struct {
	inmemoryruntime.Manager
}

func (m dryRuns) GetResourceGroup(name string) resourcegroup.ResourceGroup {
	return dryRunGroup{dryRunClient{m.Manager.GetResourceGroup(name).GetClient(), m.GetScheme()}}
}

type dryRunGroup struct {
	client inmemoryclient.Client
}

func (g dryRunGroup) GetClient() inmemoryclient.Client { return g.client }

type dryRunClient struct {
	inmemoryclient.Client
	scheme *k8sruntime.Scheme
}

// stored returns what is stored in the place of an object.
func (c dryRunClient) stored(ctx context.Context, obj client.Object) (*unstructured.Unstructured, schema.GroupResource, error) {
	gvk, err := apiutil.GVKForObject(obj, c.scheme)
	if err != nil {
		return nil, schema.GroupResource{}, err
	}
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(gvk)
	return found, resource.GroupResource(), c.Get(ctx, client.ObjectKeyFromObject(obj), found)
}

func (c dryRunClient) Create(ctx context.Context, obj client.Object) error {
	_, resource, err := c.stored(ctx, obj)
	if err == nil {
		return apierrors.NewAlreadyExists(resource, client.ObjectKeyFromObject(obj).String())
	}
	return client.IgnoreNotFound(err)
}

func (c dryRunClient) Update(ctx context.Context, obj client.Object) error {
	found, resource, err := c.stored(ctx, obj)
	if err == nil && found.GetResourceVersion() != obj.GetResourceVersion() {
		return apierrors.NewConflict(resource, obj.GetName(), fmt.Errorf("object has been modified"))
	}
	return err
}

// Patch changes an object, which the handler has read, and nothing else. Like
// the cache, it treats a strategic merge patch as a merge patch (RFC 7386).
func (c dryRunClient) Patch(ctx context.Context, obj client.Object, patch client.Patch) error {
	data, err := patch.Data(obj)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	changes := map[string]any{}
	if err := kjson.Unmarshal(data, &changes); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	mergePatch(obj.(*unstructured.Unstructured).Object, changes)
	return c.Update(ctx, obj)
}

func (c dryRunClient) Delete(ctx context.Context, obj client.Object) error {
	_, _, err := c.stored(ctx, obj)
	return err
}

func mergePatch(target, patch map[string]any) {
	for name, value := range patch {
		if value == nil {
			delete(target, name)
			continue
		}
		changes, ok := value.(map[string]any)
		if !ok {
			target[name] = value
			continue
		}
		part, ok := target[name].(map[string]any)
		if !ok {
			part = map[string]any{}
			target[name] = part
		}
		mergePatch(part, changes)
	}
}
