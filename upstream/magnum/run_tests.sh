#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Applies the patches beside this file to PyPI's Magnum, and runs Magnum's
# unit tests of the modules that they touch, in an environment of its own.
#
# Usage: run_tests.sh [FOLDER]
# The folder for all of it; kept, and used again. Default: a temporary one.

set -eu -o pipefail

VERSION=23.0.0
UNIT=magnum.tests.unit
MODULES=(
    "$UNIT.drivers.test_driver"
    "$UNIT.api.test_validation"
    "$UNIT.api.test_attr_validator"
    "$UNIT.api.controllers.test_root"
    "$UNIT.api.controllers.v1.test_cluster_template"
    "$UNIT.api.controllers.v1.test_cluster"
    "$UNIT.api.controllers.v1.test_cluster_actions"
)
here=$(cd "$(dirname "$0")" && pwd)
constraints=$here/../../constraints/cloud.txt

if [[ $# -gt 0 ]]; then
    mkdir -p "$1"
    work=$(cd "$1" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
source=$work/magnum-$VERSION

# The wheel has neither release notes nor documentation.
if [[ ! -f $source.tar.gz ]]; then
    python -m pip download --quiet --no-deps --no-binary magnum \
        --dest "$work" "magnum==$VERSION"
fi
rm -rf "$source"
tar --no-same-owner -xzf "$source.tar.gz" -C "$work"

# "git am" is what reviewers do; it is strict about context.
export GIT_CONFIG_GLOBAL=/dev/null
export GIT_COMMITTER_NAME=magnum-capi GIT_COMMITTER_EMAIL=magnum-capi@localhost
git -C "$source" init --quiet
git -C "$source" add --force --all
git -C "$source" commit --quiet --message "Magnum $VERSION" \
    --author "magnum-capi <magnum-capi@localhost>"
git -C "$source" am "$here"/*.patch

if [[ ! -x $work/venv/bin/python ]]; then
    uv venv --quiet --python "$(command -v python)" "$work/venv"
fi
# No linters: they are the same for every patch, and pin each other.
grep -viE '^(hacking|bandit|bashate|doc8|pygments)' \
    "$source/test-requirements.txt" > "$work/test-requirements.txt"
uv pip install --quiet --python "$work/venv/bin/python" \
    --constraint "$constraints" --requirement "$source/requirements.txt" \
    --requirement "$work/test-requirements.txt"
PBR_VERSION=$VERSION uv pip install --quiet --python "$work/venv/bin/python" \
    --no-deps --editable "$source"

cd "$source"
unset PYTHONPATH
"$work/venv/bin/python" -m unittest --buffer "${MODULES[@]}"
