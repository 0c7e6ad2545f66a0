// SPDX-License-Identifier: Apache-2.0

// runc-nores runs runc on hosts where root lacks capabilities, mostly
// CAP_SYS_RESOURCE. There runc fails for every privileged container ("unable
// to apply caps: operation not permitted") and for every process that is to
// be spared by the out-of-memory killer. What this host cannot give is taken
// out of the OCI specification first; then the real runc takes over this
// process. With all capabilities nothing is changed.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Where the real runc may be; this program is called runc, too.
var candidates = []string{
	"/usr/sbin/runc", "/usr/bin/runc", "/usr/local/bin/runc",
	"/usr/local/sbin/runc", "/sbin/runc", "/bin/runc",
}

// runc's global options that take a value.
var valued = map[string]bool{
	"--root": true, "--log": true, "--log-format": true,
	"--criu": true, "--rootless": true,
}

func main() {
	real, err := realRunc()
	if err == nil {
		err = lower(os.Args[1:])
	}
	if err == nil {
		err = syscall.Exec(real, append([]string{real}, os.Args[1:]...),
			os.Environ())
	}
	fmt.Fprintln(os.Stderr, "runc-nores:", err)
	os.Exit(127)
}

// realRunc finds runc, which is not this program: REAL_RUNC, or where
// distributions put it.
func realRunc() (string, error) {
	if named := os.Getenv("REAL_RUNC"); named != "" {
		return named, nil
	}
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err == nil && !os.SameFile(self, info) {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no runc in %s",
		strings.Join(candidates, ", "))
}

// lower changes the file that a command of runc reads its process from.
func lower(arguments []string) error {
	file, whole := specification(arguments)
	if file == "" {
		return nil
	}
	limits, err := ownLimits()
	if err != nil {
		return err
	}
	return rewrite(file, whole, limits)
}

// specification is the file with the process that a command line starts:
// config.json of a bundle, of which the process is a part, or (whole) a
// file that has nothing else.
func specification(arguments []string) (file string, whole bool) {
	command, rest := split(arguments)
	switch command {
	case "create", "run", "restore":
		bundle := option(rest, "--bundle", "-b")
		return filepath.Join(bundle, "config.json"), false
	case "exec":
		return option(rest, "--process", "-p"), true
	}
	return "", false
}

// split separates runc's global options from the command and its options.
func split(arguments []string) (string, []string) {
	for i := 0; i < len(arguments); i++ {
		switch {
		case valued[arguments[i]]:
			i++
		case !strings.HasPrefix(arguments[i], "-"):
			return arguments[i], arguments[i+1:]
		}
	}
	return "", nil
}

// option is the value of an option in its forms "-o V" and "-o=V".
func option(arguments []string, names ...string) string {
	for i, argument := range arguments {
		for _, name := range names {
			if argument == name && i+1 < len(arguments) {
				return arguments[i+1]
			}
			if value, found := strings.CutPrefix(argument, name+"="); found {
				return value
			}
		}
	}
	return ""
}
