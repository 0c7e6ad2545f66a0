// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// hypervisor runs the servers of Nova's compute driver.
type hypervisor interface {
	// put creates and boots a server; created is false if it exists already. A
	// BadRequest says that the description is wrong.
	put(ctx context.Context, id string, spec machineSpec) (created bool, err error)
	list(ctx context.Context) ([]machineView, error)
	view(ctx context.Context, id string) (machineView, error)
	// console returns the last lines of a server's console.
	console(ctx context.Context, id string) (string, error)
	// power stops or starts a server, or both.
	power(ctx context.Context, id string, off, on bool) error
	remove(ctx context.Context, id string) error
}
