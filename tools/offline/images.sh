#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Builds and checks image archives on a bare machine; see images/__main__.py.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"
prepare run
if [[ ${1-} == build && " $* " != *' --help '* && $EUID -eq 0 ]]; then
    packages nodes
fi
PYTHONPATH=$TOP exec python -P -m tools.offline.images "$@"
