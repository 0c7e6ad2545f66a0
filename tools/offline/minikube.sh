#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Prepares a management cluster in minikube on a machine without releases and
# registries; see management/__main__.py.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"
prepare run
if [[ " $* " != *' --help '* && $EUID -eq 0 ]]; then
    packages nodes
fi
PYTHONPATH=$TOP exec python -P -m tools.offline.management "$@"
