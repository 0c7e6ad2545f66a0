// SPDX-License-Identifier: Apache-2.0

// Command cert-manager runs the parts of cert-manager that Cluster API needs,
// for clusters without an image registry: the released controllers of
// certificates with the self-signed issuer ("controller"), and the released
// CA injector ("cainjector").
//
// cert-manager's own programs are modules that no proxy serves, and its
// admission webhook is an internal package. So there is no webhook here, and
// no other issuer: reports must say that this is a stand-in.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	modes := map[string]func(context.Context) error{
		"controller": runController,
		"cainjector": runInjector,
	}
	if len(os.Args) != 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: cert-manager controller|cainjector")
		os.Exit(2)
	}
	log.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(
		context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := modes[os.Args[1]](ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}
