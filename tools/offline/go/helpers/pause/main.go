// SPDX-License-Identifier: Apache-2.0

// The program pause holds the namespaces of a pod: it waits, reaps the
// processes of a pod that shares its process namespace, and ends at once
// when it is told to.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for got := range signals {
		if got != syscall.SIGCHLD {
			os.Exit(0)
		}
		reap()
	}
}

// reap takes the exit codes of all children that have ended.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid <= 0 {
			return
		}
	}
}
