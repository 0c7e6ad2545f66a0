// Licensed under the Apache License, Version 2.0 (the "License"); you may not
// use this file except in compliance with the License. You may obtain a copy
// of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
// WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
// License for the specific language governing permissions and limitations
// under the License.

// Command cert-manager runs what Cluster API needs of cert-manager, for
// clusters without an image registry: the released controllers of
// certificates with the self-signed issuer ("controller"), and the released
// CA injector ("cainjector").
//
// cert-manager's own programs are modules that no proxy serves, and its
// admission webhook is an internal package. So there is no webhook here, and
// no other issuer: whoever reads a report must know that this is a stand-in.
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
