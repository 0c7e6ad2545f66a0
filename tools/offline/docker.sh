#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Starts and stops a container engine on a bare machine; see containers/__main__.py.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"
prepare run
if [[ ${1-} == up && " $* " != *' --help '* && $EUID -eq 0 ]]; then
    packages nodes
fi
PYTHONPATH=$TOP exec python -P -m tools.offline.containers "$@"
