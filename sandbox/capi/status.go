// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// now is the clock; reconcilers have a field for it, for tests.
func now() time.Time { return time.Now().UTC() }

// v1beta1 conditions, the form that CAPO writes.
type condition struct {
	kind, status, reason, severity, message string
}

func conditionTrue(kind string) condition { return condition{kind: kind, status: "True"} }

func conditionFalse(kind, reason, severity, message string) condition {
	return condition{kind: kind, status: "False", reason: reason, severity: severity, message: message}
}

func conditionUnknown(kind, reason, message string) condition {
	return condition{kind: kind, status: "Unknown", reason: reason, message: message}
}

// setConditions replaces the conditions of an object. The transition time of a
// condition is kept as long as its status and reason stay: delays are counted
// from it, even after a restart.
func setConditions(o *unstructured.Unstructured, at time.Time, conditions ...condition) {
	old, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	list := make([]any, 0, len(conditions))
	for _, c := range conditions {
		m := map[string]any{"type": c.kind, "status": c.status, "lastTransitionTime": at.Format(time.RFC3339)}
		for k, v := range map[string]string{"reason": c.reason, "severity": c.severity, "message": c.message} {
			if v != "" { // the CRD wants them absent rather than empty
				m[k] = v
			}
		}
		for _, e := range old {
			if e, ok := e.(map[string]any); ok && e["type"] == c.kind && e["status"] == m["status"] && e["reason"] == m["reason"] {
				m["lastTransitionTime"] = e["lastTransitionTime"]
			}
		}
		list = append(list, m)
	}
	set(o, list, "status", "conditions")
}

// conditionOf returns a condition of an object, nil if it has none.
func conditionOf(o *unstructured.Unstructured, kind string) map[string]any {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, e := range list {
		if e, ok := e.(map[string]any); ok && e["type"] == kind {
			return e
		}
	}
	return nil
}

// update writes the changes to metadata and specification, and then to the
// status, of an object.
func update(ctx context.Context, c client.Client, before, after *unstructured.Unstructured) error {
	status, hasStatus := after.Object["status"]
	if err := patch(ctx, c, before, after, "status"); err != nil {
		return err
	}
	if !hasStatus || after.GetDeletionTimestamp() != nil {
		return nil
	}
	base := after.DeepCopy()
	after.Object["status"] = status
	p := client.MergeFrom(base)
	if b, err := p.Data(after); err != nil || bytes.Equal(b, []byte("{}")) {
		return err
	}
	return c.Status().Patch(ctx, after, p)
}

// patch writes the changes outside of the given field. Then after has the
// server's content.
func patch(ctx context.Context, c client.Client, before, after *unstructured.Unstructured, without string) error {
	if v, ok := before.Object[without]; ok {
		after.Object[without] = v
	} else {
		delete(after.Object, without)
	}
	p := client.MergeFrom(before)
	if b, err := p.Data(after); err != nil || bytes.Equal(b, []byte("{}")) {
		return err
	}
	return c.Patch(ctx, after, p)
}

// annotate sets an annotation, or removes it if the value is empty.
func annotate(o *unstructured.Unstructured, name, value string) {
	a := o.GetAnnotations()
	if value == "" {
		delete(a, annotationPrefix+name)
	} else {
		if a == nil {
			a = map[string]string{}
		}
		a[annotationPrefix+name] = value
	}
	o.SetAnnotations(a)
}
