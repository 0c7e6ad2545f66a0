// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"
)

func TestBehavioursAreRead(t *testing.T) {
	// given a file that uses every key
	b, err := parseBehaviours([]byte(`{"flavors": {
		"m1.slow": {"createDelay": "20s", "nodeReadyDelay": "5s", "deleteDelay": "1m30s", "lifetime": "1h"},
		"m1.bad": {"failure": "No valid host was found", "node": "absent", "addonPhase": "Failed", "addonDelay": "1s"},
		"m1.ok": {}}}`))
	// then they are as in the file
	if err != nil {
		t.Fatal(err)
	}
	check(t, "slow", b.of("m1.slow"), behaviour{CreateDelay: duration(20 * time.Second), NodeReadyDelay: duration(5 * time.Second), DeleteDelay: duration(90 * time.Second), Lifetime: duration(time.Hour)})
	check(t, "bad", b.of("m1.bad"), behaviour{Failure: "No valid host was found", Node: nodeAbsent, AddonPhase: "Failed", AddonDelay: duration(time.Second)})
	check(t, "unknown flavor", b.of("m9"), behaviour{})
	check(t, "no flavor", b.of("", ""), behaviour{})
	check(t, "by id", b.of("7f-uuid", "m1.slow").CreateDelay, duration(20*time.Second))
	check(t, "no file", behaviours(nil).of("m1.slow"), behaviour{})
}

func TestBadBehavioursAreRefused(t *testing.T) {
	for text, problem := range map[string]string{
		`{"flavours": {}}`: `unknown field "flavours"`,
		`{"flavors": {"m1": {"createdelay ": "1s"}}}`:   `flavor "m1": json: unknown field`,
		`{"flavors": {"m1": {"crateDelay": "1s"}}}`:     `unknown field "crateDelay"`,
		`{"flavors": {"m1": {"createDelay": 20}}}`:      `not a duration, write it like "20s"`,
		`{"flavors": {"m1": {"createDelay": "soon"}}}`:  `"soon" is not a duration`,
		`{"flavors": {"m1": {"createDelay": "-1s"}}}`:   `not a duration`,
		`{"flavors": {"m1": {"node": "gone"}}}`:         `node: "gone" is neither`,
		`{"flavors": {"m1": {"addonPhase": "failed"}}}`: `addonPhase: "failed" is none of`,
		`{"flavors": {}} {}`:                            "after the closing bracket",
		``:                                              "EOF",
	} {
		if _, err := parseBehaviours([]byte(text)); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v, want %q in it", text, err, problem)
		}
	}
}

func TestAnnotationsWinOverTheFlavor(t *testing.T) {
	flavor := behaviour{Failure: "No valid host was found", CreateDelay: duration(time.Minute)}
	b, err := flavor.with(map[string]string{
		annotationPrefix + "failure": "", annotationPrefix + "create-delay": "2s",
		annotationPrefix + "node": nodeNotReady, annotationPrefix + "addon-phase": "Unknown",
	})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "behaviour", b, behaviour{CreateDelay: duration(2 * time.Second), Node: nodeNotReady, AddonPhase: "Unknown"})
}

func TestABadAnnotationIsNamed(t *testing.T) {
	_, err := behaviour{}.with(map[string]string{annotationPrefix + "delete-delay": "later"})
	if err == nil || !strings.Contains(err.Error(), "sandbox.magnum-capi/delete-delay") {
		t.Errorf("got %v", err)
	}
}

func TestADelayIsNeverTooShort(t *testing.T) {
	// given a start that was recorded without its fraction of a second
	start := instant
	for after, left := range map[time.Duration]time.Duration{
		0: 6 * time.Second, 5 * time.Second: time.Second, 6 * time.Second: 0, time.Hour: 0,
	} {
		check(t, after.String(), remaining(start, duration(5*time.Second), start.Add(after)), left)
	}
	check(t, "no delay", remaining(start, 0, start), time.Duration(0))
	check(t, "a clock that was set back", remaining(start, duration(5*time.Second), start.Add(-time.Hour)), time.Duration(0))
}
