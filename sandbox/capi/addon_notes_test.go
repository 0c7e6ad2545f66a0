// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Two contents of a Secret, and what compute_checksum of the addon provider
// (capi_addons/operator.py) makes of them:
//
//	python3 -c 'import hashlib; print(hashlib.sha256(b"cacert=cGVt;clouds.yaml=b2xk").hexdigest())'
var (
	oldData = map[string][]byte{"clouds.yaml": []byte("old"), "cacert": []byte("pem")}
	newData = map[string][]byte{"clouds.yaml": []byte("new"), "cacert": []byte("pem")}
)

const (
	oldChecksum = "b32873643ee49b407362946478e8d16f9794b64bb3d6947b8a7d0fbc1d281a95"
	newChecksum = "1c9286a48604b79a12d4bfdb9d306e027f48884009d6aec56e47324869b815d4"
	noteKey     = "secret.addons.stackhpc.com/c-cloud-credentials"
)

// watchedSecrets has the Secrets with the label, like the provider's cache.
type watchedSecrets struct{ client.Reader }

func (w watchedSecrets) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if err := w.Reader.Get(ctx, key, o, options...); err != nil {
		return err
	}
	if _, ok := o.GetLabels()[addonWatchLabel]; !ok {
		return apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
	}
	return nil
}

// newNotedCase is an addonCase whose infrastructure names a Secret.
func newNotedCase(t *testing.T, b behaviours) *addonCase {
	t.Helper()
	a := newAddonCase(t, true, true, b, nil)
	a.r.watched, a.r.reader = watchedSecrets{a.client}, a.client
	cluster := testCluster("c")
	if err := a.client.Get(context.Background(), key("c"), cluster); err != nil {
		t.Fatal(err)
	}
	cluster.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: openStackCluster.Kind, Name: "c"}
	if err := a.client.Update(context.Background(), cluster); err != nil {
		t.Fatal(err)
	}
	infra := newObject(openStackCluster)
	infra.SetNamespace(namespace)
	infra.SetName("c")
	set(infra, "c-cloud-credentials", "spec", "identityRef", "name")
	a.create(infra)
	a.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c-cloud-credentials"}, Data: oldData})
	return a
}

func (a *addonCase) create(o client.Object) {
	a.t.Helper()
	if err := a.client.Create(context.Background(), o); err != nil {
		a.t.Fatal(err)
	}
}

func (a *addonCase) secret() *corev1.Secret {
	a.t.Helper()
	s := &corev1.Secret{}
	if err := a.client.Get(context.Background(), key("c-cloud-credentials"), s); err != nil {
		a.t.Fatal(err)
	}
	return s
}

func (a *addonCase) rotate() {
	a.t.Helper()
	s := a.secret()
	s.Data = newData
	if err := a.client.Update(context.Background(), s); err != nil {
		a.t.Fatal(err)
	}
}

// notes returns the Secret's checksum in the addon, and the one that the
// provider has handled.
func (a *addonCase) notes() (told, handled string) {
	a.t.Helper()
	annotations := get(a.t, a.client, helmRelease, "c-cni-calico").GetAnnotations()
	var last struct {
		Metadata struct{ Annotations map[string]string }
	}
	if text, ok := annotations[addonLastHandled]; ok {
		if err := json.Unmarshal([]byte(text), &last); err != nil {
			a.t.Fatal(err)
		}
	}
	return annotations[noteKey], last.Metadata.Annotations[noteKey]
}

func TestAnAddonIsToldOfTheCloudsCredentials(t *testing.T) {
	a := newNotedCase(t, nil)
	check(t, "phase", a.phase(), phaseDeployed)
	_, uses := get(t, a.client, helmRelease, "c-cni-calico").GetLabels()["c-cloud-credentials.secret.addons.stackhpc.com/uses"]
	check(t, "label", uses, true)
	told, handled := a.notes()
	check(t, "told", told, oldChecksum)
	check(t, "handled", handled, oldChecksum)
	_, watched := a.secret().Labels["addons.stackhpc.com/watch"]
	check(t, "watched", watched, true)
}

func TestAWatchedSecretIsReadFromTheCache(t *testing.T) {
	a := newNotedCase(t, nil)
	a.phase()
	a.r.reader = nil // would panic
	a.rotate()
	check(t, "phase", a.phase(), phaseDeployed)
	told, _ := a.notes()
	check(t, "told", told, newChecksum)
}

func TestOtherCredentialsAreWorkForAnAddon(t *testing.T) {
	a := newNotedCase(t, behaviours{"m1.cp": {AddonDelay: duration(30 * time.Second)}})
	a.phase()
	a.clock = instant.Add(30 * time.Second)
	check(t, "before", a.phase(), phaseDeployed)
	a.rotate()
	check(t, "meanwhile", a.phase(), phaseUpgrading)
	told, handled := a.notes()
	check(t, "told", told, newChecksum)
	check(t, "handled meanwhile", handled, oldChecksum)
	a.clock = instant.Add(59 * time.Second)
	check(t, "not yet", a.phase(), phaseUpgrading)
	a.clock = instant.Add(60 * time.Second)
	check(t, "in the end", a.phase(), phaseDeployed)
	_, handled = a.notes()
	check(t, "handled", handled, newChecksum)
}

func TestAChangeOfItsSpecIsWorkForAnAddon(t *testing.T) {
	a := newNotedCase(t, nil)
	a.phase()
	o := get(t, a.client, helmRelease, "c-cni-calico")
	set(o, "other", "spec", "targetNamespace")
	if err := a.client.Update(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	a.clock = instant.Add(time.Minute)
	check(t, "phase", a.phase(), phaseDeployed)
	o = get(t, a.client, helmRelease, "c-cni-calico")
	check(t, "since", o.GetAnnotations()[annotationPrefix+"installing-since"], a.clock.Format(time.RFC3339Nano))
	check(t, "handled", o.GetAnnotations()[addonLastHandled], essenceOf(o))
}

func TestALookAtADeployedAddonChangesNothing(t *testing.T) {
	a := newNotedCase(t, nil)
	a.phase()
	before := get(t, a.client, helmRelease, "c-cni-calico").GetResourceVersion()
	a.clock = instant.Add(time.Minute)
	a.phase()
	check(t, "version", get(t, a.client, helmRelease, "c-cni-calico").GetResourceVersion(), before)
}

func TestASecretConcernsTheAddonsThatUseIt(t *testing.T) {
	a := newNotedCase(t, nil)
	check(t, "before", len(a.r.ofSecret(context.Background(), a.secret())), 0)
	a.phase()
	found := a.r.ofSecret(context.Background(), a.secret())
	check(t, "addons", len(found), 1)
	check(t, "name", found[0].Name, "c-cni-calico")
}

func TestWithoutCredentialsAnAddonIsToldNothing(t *testing.T) {
	a := newNotedCase(t, nil)
	if err := a.client.Delete(context.Background(), a.secret()); err != nil {
		t.Fatal(err)
	}
	check(t, "phase", a.phase(), phaseDeployed)
	told, _ := a.notes()
	check(t, "told", told, "")
}
