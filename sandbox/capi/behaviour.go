// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// annotationPrefix starts every annotation of this program.
const annotationPrefix = "sandbox.magnum-capi/"

// Values of behaviour.Node.
const (
	nodeAbsent   = "absent"    // the instance runs, its kubelet never joins
	nodeNotReady = "not-ready" // the node joins and never becomes Ready
)

// addonPhases are the phases that the addon provider reports (enum of its
// v1alpha1 models).
var addonPhases = []string{"Unknown", "Pending", "Preparing", "Deployed", "Failed", "Installing", "Upgrading", "Uninstalling"}

// behaviour is the behaviour of machines of a flavor, and of the addons of
// clusters whose control plane has that flavor. With the zero value everything
// succeeds at once.
type behaviour struct {
	CreateDelay    duration `json:"createDelay"`    // until the instance is ACTIVE (or ERROR)
	NodeReadyDelay duration `json:"nodeReadyDelay"` // until the node is Ready, from the CNI's deployment
	DeleteDelay    duration `json:"deleteDelay"`    // until the instance is gone
	Lifetime       duration `json:"lifetime"`       // until the instance crashes, from its node being Ready; 0: never
	Failure        string   `json:"failure"`        // the instance goes to ERROR with this message
	Node           string   `json:"node"`           // nodeAbsent, nodeNotReady or ""
	AddonPhase     string   `json:"addonPhase"`     // final phase of addons instead of Deployed; the CNI only by annotation
	AddonDelay     duration `json:"addonDelay"`     // until addons reach their final phase
}

// behaviours maps a flavor, by name or by id, to its behaviour.
type behaviours map[string]behaviour

// duration is a time.Duration written as in Go ("1m30s").
type duration time.Duration

func (d *duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf(`%s is not a duration, write it like "20s"`, b)
	}
	v, err := parseDuration(s)
	*d = v
	return err
}

func parseDuration(s string) (duration, error) {
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return 0, fmt.Errorf(`%q is not a duration, write it like "20s" or "1m30s"`, s)
	}
	return duration(v), nil
}

func (b behaviour) validate() error {
	if b.Node != "" && b.Node != nodeAbsent && b.Node != nodeNotReady {
		return fmt.Errorf("node: %q is neither %q nor %q nor empty", b.Node, nodeAbsent, nodeNotReady)
	}
	if b.AddonPhase != "" && !slices.Contains(addonPhases, b.AddonPhase) {
		return fmt.Errorf("addonPhase: %q is none of %s", b.AddonPhase, strings.Join(addonPhases, ", "))
	}
	return nil
}

func readBehaviours(path string) (behaviours, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := parseBehaviours(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// parseBehaviours reads the JSON of --behaviours. An unknown key is an error: a
// test that sets a fault must not pass because of a typo.
func parseBehaviours(b []byte) (behaviours, error) {
	var file struct {
		Flavors map[string]json.RawMessage `json:"flavors"`
	}
	if err := strictJSON(b, &file); err != nil {
		return nil, err
	}
	all := behaviours{}
	for _, flavor := range slices.Sorted(maps.Keys(file.Flavors)) {
		var v behaviour
		err := strictJSON(file.Flavors[flavor], &v)
		if err == nil {
			err = v.validate()
		}
		if err != nil {
			return nil, fmt.Errorf("flavor %q: %w", flavor, err)
		}
		all[flavor] = v
	}
	return all, nil
}

func strictJSON(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("there is text after the closing bracket")
	}
	return nil
}

// of returns the behaviour of the first of the given names that has one.
func (b behaviours) of(names ...string) behaviour {
	for _, n := range names {
		if v, ok := b[n]; ok && n != "" {
			return v
		}
	}
	return behaviour{}
}

// with returns the behaviour changed by the annotations of an object. An
// annotation wins even if it is empty, so that a test can heal one machine of a
// failing flavor.
func (b behaviour) with(annotations map[string]string) (behaviour, error) {
	for name, field := range map[string]*duration{
		"create-delay": &b.CreateDelay, "node-ready-delay": &b.NodeReadyDelay,
		"delete-delay": &b.DeleteDelay, "addon-delay": &b.AddonDelay, "lifetime": &b.Lifetime,
	} {
		s, ok := annotations[annotationPrefix+name]
		if !ok {
			continue
		}
		v, err := duration(0), error(nil)
		if s != "" {
			v, err = parseDuration(s)
		}
		if err != nil {
			return b, fmt.Errorf("annotation %s%s: %w", annotationPrefix, name, err)
		}
		*field = v
	}
	for name, field := range map[string]*string{"failure": &b.Failure, "node": &b.Node, "addon-phase": &b.AddonPhase} {
		if s, ok := annotations[annotationPrefix+name]; ok {
			*field = s
		}
	}
	if err := b.validate(); err != nil {
		return b, fmt.Errorf("annotation %s: %w", annotationPrefix, err)
	}
	return b, nil
}

// remaining returns the rest of a delay that began at start. Times in
// Kubernetes objects have no fractions of a second, so a delay is counted from
// the next full second: it lasts as long as specified, or up to 1 s longer.
func remaining(start time.Time, delay duration, now time.Time) time.Duration {
	if delay == 0 {
		return 0
	}
	delay += duration(time.Second)
	return until(start.Truncate(time.Second).Add(time.Duration(delay)), delay, now)
}

// until returns the time until a moment in which a delay ends. If it is longer
// than the whole delay, the clock has been set back, and the delay is over.
func until(moment time.Time, delay duration, now time.Time) time.Duration {
	left := moment.Sub(now)
	if left > time.Duration(delay) {
		return 0
	}
	return max(0, left)
}
