// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/sys/capability"
)

// Numbers of getrlimit(2) by their names in the OCI specification.
var rlimits = map[string]int{
	"RLIMIT_CPU": 0, "RLIMIT_FSIZE": 1, "RLIMIT_DATA": 2,
	"RLIMIT_STACK": 3, "RLIMIT_CORE": 4, "RLIMIT_RSS": 5,
	"RLIMIT_NPROC": 6, "RLIMIT_NOFILE": 7, "RLIMIT_MEMLOCK": 8,
	"RLIMIT_AS": 9, "RLIMIT_LOCKS": 10, "RLIMIT_SIGPENDING": 11,
	"RLIMIT_MSGQUEUE": 12, "RLIMIT_NICE": 13, "RLIMIT_RTPRIO": 14,
	"RLIMIT_RTTIME": 15,
}

// limits is what this process can give to others.
type limits struct {
	// capabilities by name, as CAP_SYS_ADMIN.
	capabilities map[string]bool
	// hard rlimits by name; none with CAP_SYS_RESOURCE.
	hard map[string]uint64
	// oom is the least oom_score_adj, -1000 with CAP_SYS_RESOURCE.
	oom int64
}

func ownLimits() (limits, error) {
	own := limits{map[string]bool{}, map[string]uint64{}, -1000}
	held, err := capability.NewPid2(0)
	if err == nil {
		err = held.Load()
	}
	if err != nil {
		return own, err
	}
	for _, each := range capability.ListKnown() {
		if held.Get(capability.BOUNDING, each) &&
			held.Get(capability.PERMITTED, each) {
			own.capabilities["CAP_"+strings.ToUpper(each.String())] = true
		}
	}
	if own.capabilities["CAP_SYS_RESOURCE"] {
		return own, nil
	}
	for name, number := range rlimits {
		var found syscall.Rlimit
		if err := syscall.Getrlimit(number, &found); err != nil {
			return own, err
		}
		own.hard[name] = found.Max
	}
	text, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return own, err
	}
	own.oom, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return own, err
}

// rewrite lowers what a file asks for; what it need not touch stays.
func rewrite(file string, whole bool, own limits) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var spec map[string]any
	decoder := json.NewDecoder(bytes.NewReader(content))
	// A float64 does not hold every uint64.
	decoder.UseNumber()
	if err := decoder.Decode(&spec); err != nil {
		return err
	}
	process := spec
	if !whole {
		process, _ = spec["process"].(map[string]any)
	}
	if process == nil {
		return nil
	}
	own.apply(process)
	content, err = json.Marshal(spec)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

// apply lowers a "process" of the OCI runtime specification, config.md.
func (l limits) apply(process map[string]any) {
	sets, _ := process["capabilities"].(map[string]any)
	for name, set := range sets {
		if list, ok := set.([]any); ok {
			sets[name] = l.keep(list)
		}
	}
	if wanted, ok := number(process["oomScoreAdj"]); ok && wanted < l.oom {
		process["oomScoreAdj"] = l.oom
	}
	list, _ := process["rlimits"].([]any)
	for _, each := range list {
		if entry, ok := each.(map[string]any); ok {
			l.cut(entry)
		}
	}
}

func (l limits) keep(list []any) []any {
	kept := []any{}
	for _, each := range list {
		if name, ok := each.(string); ok && l.capabilities[name] {
			kept = append(kept, name)
		}
	}
	return kept
}

func (l limits) cut(entry map[string]any) {
	name, _ := entry["type"].(string)
	hard, ok := l.hard[name]
	if !ok {
		return
	}
	for _, key := range []string{"hard", "soft"} {
		text, ok := entry[key].(json.Number)
		if !ok {
			continue
		}
		wanted, err := strconv.ParseUint(text.String(), 10, 64)
		if err == nil && wanted > hard {
			entry[key] = hard
		}
	}
}

func number(value any) (int64, bool) {
	text, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	found, err := text.Int64()
	return found, err == nil
}
