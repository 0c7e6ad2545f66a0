#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Builds the wheels of this repository's four distributions.

set -euo pipefail

usage() {
    cat << EOF
usage: tools/build_wheels.sh FOLDER

Builds the wheels of magnum-capi, magnum-capi-tempest, magnum-capi-sandbox and
magnum-driver-k8s-capi-v1 into FOLDER, which is made. That of the sandbox is for
this platform: it brings the program capi, which is built with Go otherwise, on
the first "sandbox up".

Exit code: 0, 1 a build failed, 2 wrong usage, 3 this machine lacks something.
EOF
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"

case ${1-} in
    -h | --help) usage; exit 0 ;;
    '' | -*) unknown "${1-}" ;;
esac
(($# == 1)) || unknown "$2"
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# A copy, so that the checkout gets neither programs nor build folders.
copy=
# shellcheck disable=SC2317  # called by the trap
finish() {
    local code=$?
    [[ -z $copy ]] || rm -rf "$copy"
    exit "$code"
}
trap_finish

prepare run
packages
capi=$(python -m magnum_capi_tempest.toolchain capi)
copy=$(mktemp -d)
(cd "$TOP" && git ls-files -z | xargs -0 cp --parents -t "$copy")
programs=$copy/sandbox/programs/capi
mkdir -p "$programs"
cp -r "$(dirname "$capi")" "$programs/"
# The copy has no history, from which pbr takes the version.
version=$(python -c 'from importlib import metadata
print(metadata.version("magnum-capi-tempest"))')
for one in magnum-capi . sandbox drivers/k8s_capi_v1; do
    quietly "Build $one" env TMPDIR="$copy" PBR_VERSION="$version" \
        uv build --quiet --wheel --out-dir "$folder" \
        --build-constraint "$TOP/sandbox/constraints/tools.txt" "$copy/$one" \
        || die 'A wheel cannot be built, see above' "$one" \
            'Is a package index reachable?'
done
ls "$folder"/*.whl
