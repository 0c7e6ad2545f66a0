#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Tests a driver of Magnum on a bare machine.

set -euo pipefail

usage() {
    cat << EOF
usage: tools/test_driver.sh DRIVER [OPTION...]

Sets everything up, starts a sandbox with the driver, tests the driver's
promises, and takes the sandbox down again.

  DRIVER  a folder, a wheel, or a requirement such as magnum-capi-helm
  OPTION  of "magnum-capi driver test": --driver, --profile, --core,
          --everything, --magnum, --nodes, --infrastructure, --keep,
          --description, --concurrency, --option, --output

Exit code: 0 the driver passes core, 1 it does not, 2 wrong usage, 3 this
machine lacks something.
EOF
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"

case ${1-} in
    -h | --help) usage; exit 0 ;;
    '' | -*) DIE_CODE=2 die 'Which driver?' "${*:-no arguments}" \
                 'Name its folder, wheel or requirement first; see --help' ;;
esac
arguments=("$@")
shift
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --driver | --profile | --magnum | --nodes | --infrastructure | \
            --description | -c | --concurrency | --option | --output)
            need_value "$@"
            shift ;;
        --driver=* | --profile=* | --magnum=* | --nodes=* | \
            --infrastructure=* | --description=* | --concurrency=* | \
            --option=* | --output=* | --core | --everything | --keep) ;;
        *) unknown "$1" ;;
    esac
    shift
done

prepare run
packages
exec magnum-capi driver test "${arguments[@]}"
