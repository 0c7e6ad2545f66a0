// SPDX-License-Identifier: Apache-2.0

// The program nnp prints its effective user. Set-user-ID in an image, it
// shows whether a container forbids new privileges: the specs of
// securityContext.allowPrivilegeEscalation in Kubernetes' e2e tests read
// this line.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Printf("Effective uid: %d\n", os.Geteuid())
}
