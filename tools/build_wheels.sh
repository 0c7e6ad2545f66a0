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

They are made of the last commit.

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
if (($# > 1)); then
    unknown "$2"
fi
[[ -z $(git -C "$TOP" status --porcelain --untracked-files=no) ]] \
    || die 'The checkout differs from its last commit' "$TOP" \
        'Wheels are made of commits: commit the changes, or stash them'
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# A clone, so that the checkout gets neither programs nor build folders.
clone=
# shellcheck disable=SC2317  # called by the trap
finish() {
    local code=$?
    [[ -z $clone ]] || rm -rf "$clone"
    exit "$code"
}
trap_finish

prepare run
packages
capi=$(python -m magnum_capi_tempest.toolchain capi)
clone=$(mktemp -d)
# pbr reads the version and the list of files from git.
git clone --quiet "$TOP" "$clone"
mkdir -p "$clone/sandbox/programs/capi"
cp -r "${capi%/*}" "$clone/sandbox/programs/capi/"
for one in magnum-capi . sandbox drivers/k8s_capi_v1; do
    quietly "Build $one" env TMPDIR="$clone" \
        uv build --quiet --wheel --out-dir "$folder" \
        --build-constraint "$TOP/sandbox/constraints/tools.txt" "$clone/$one" \
        || die 'A wheel cannot be built, see above' "$one" \
            'Is a package index reachable?'
done
ls "$folder"/*.whl
