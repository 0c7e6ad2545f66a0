// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Annotations of the addon provider: one records the checksum of a Secret that
// an addon uses, another (kopf's) which version of the addon has been handled
// (capi_addons/config.py and operator.py). A driver that rotates the
// credentials of a cluster reads them: the old credentials can be deleted when
// every addon has the new checksum and has been handled since.
const (
	addonWatchLabel   = "addons.stackhpc.com/watch"
	addonUsesLabel    = ".secret.addons.stackhpc.com/uses"
	addonSecretNote   = "secret.addons.stackhpc.com/"
	addonLastHandled  = "addons.stackhpc.com/last-handled-configuration"
	addonOwnPrefix    = "addons.stackhpc.com/"
	addonIdentityKind = "Secret"
)

// watchedSecrets is a cache of the Secrets the addon provider watches.
func (p *providers) watchedSecrets() cache.Cache {
	watched, err := labels.NewRequirement(addonWatchLabel, selection.Exists, nil)
	must(err, "label of watched Secrets")
	c, err := cache.New(p.mgr.GetConfig(), cache.Options{
		Scheme: p.mgr.GetScheme(), Mapper: p.mgr.GetRESTMapper(), HTTPClient: p.mgr.GetHTTPClient(),
		SyncPeriod: &p.options.syncPeriod, DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: labels.NewSelector().Add(*watched)}},
	})
	must(err, "cache of watched Secrets")
	must(p.mgr.Add(c), "cache of watched Secrets")
	return c
}

func (r *addons) ofSecret(ctx context.Context, secret *corev1.Secret) []ctrl.Request {
	return r.those(ctx, secret, func(addon *unstructured.Unstructured) bool {
		_, uses := addon.GetLabels()[secret.Name+addonUsesLabel]
		return uses
	})
}

// tell labels an addon with the Secret of the cloud's credentials, like every
// addon of a cluster, and records the checksum of its content.
func (r *addons) tell(ctx context.Context, o *unstructured.Unstructured, cluster *clusterv1.Cluster) error {
	secret, err := r.cloudIdentity(ctx, cluster)
	if err != nil || secret == nil {
		return err
	}
	if _, ok := secret.Labels[addonWatchLabel]; !ok {
		before := secret.DeepCopy()
		metav1.SetMetaDataLabel(&secret.ObjectMeta, addonWatchLabel, "")
		if err := r.client.Patch(ctx, secret, client.MergeFrom(before)); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	used := o.GetLabels()
	used[secret.Name+addonUsesLabel] = ""
	o.SetLabels(used)
	note(o, addonSecretNote+secret.Name, secretChecksum(secret.Data))
	return nil
}

// cloudIdentity returns the Secret that the infrastructure of a cluster names,
// nil if there is none.
func (r *addons) cloudIdentity(ctx context.Context, cluster *clusterv1.Cluster) (*corev1.Secret, error) {
	if cluster.Spec.InfrastructureRef.Kind != openStackCluster.Kind {
		return nil, nil
	}
	infra := newObject(openStackCluster)
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.client.Get(ctx, key, infra); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	kind := nested(infra, "spec", "identityRef", "type")
	name := nested(infra, "spec", "identityRef", "name")
	if name == "" || kind != "" && kind != addonIdentityKind {
		return nil, nil
	}
	secret, secretKey := &corev1.Secret{}, client.ObjectKey{Namespace: cluster.Namespace, Name: name}
	err := r.watched.Get(ctx, secretKey, secret)
	if apierrors.IsNotFound(err) { // until it has the label
		err = r.reader.Get(ctx, secretKey, secret)
	}
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return secret, nil
}

// secretChecksum is the addon provider's compute_checksum, which sees values
// in base64.
func secretChecksum(data map[string][]byte) string {
	var parts []string
	for key, value := range data {
		parts = append(parts, key+"="+base64.StdEncoding.EncodeToString(value))
	}
	slices.Sort(parts)
	return digest(strings.Join(parts, ";"))
}

// essenceOf returns the part of an addon whose changes need work, as JSON. It
// excludes the provider's own annotations, except the checksum of a Secret.
func essenceOf(o *unstructured.Unstructured) string {
	notes := map[string]string{}
	for key, value := range o.GetAnnotations() {
		if !strings.HasPrefix(key, addonOwnPrefix) && !strings.HasPrefix(key, annotationPrefix) {
			notes[key] = value
		}
	}
	text, err := json.Marshal(map[string]any{
		"spec": o.Object["spec"], "metadata": map[string]any{"annotations": notes},
	})
	if err != nil { // it came as JSON
		panic(err)
	}
	return string(text)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func note(o *unstructured.Unstructured, name, value string) {
	notes := o.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[name] = value
	o.SetAnnotations(notes)
}
