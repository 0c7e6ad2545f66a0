#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Applies the patches next to this file to Magnum from PyPI, and runs Magnum's
# unit tests of the changed modules in a separate environment.
#
# Usage: run_tests.sh [FOLDER]
# FOLDER holds everything, and is kept and reused. Default: a temporary one.

set -eu -o pipefail

VERSION=23.0.0
UNIT=magnum.tests.unit
MODULES=(
    "$UNIT.drivers.test_driver"
    "$UNIT.objects.test_cluster"
    "$UNIT.conductor.test_utils"
    "$UNIT.api.test_validation"
    "$UNIT.api.test_attr_validator"
    "$UNIT.api.controllers.test_root"
    "$UNIT.api.controllers.v1.test_cluster_template"
    "$UNIT.api.controllers.v1.test_cluster"
    "$UNIT.api.controllers.v1.test_cluster_actions"
)
here=$(cd "$(dirname "$0")" && pwd)
constraints=$here/../../sandbox/constraints/cloud.txt

if [[ $# -gt 0 ]]; then
    mkdir -p "$1"
    work=$(cd "$1" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi
source=$work/magnum-$VERSION

"$here/apply.sh" "$work"

if [[ ! -x $work/venv/bin/python ]]; then
    uv venv --quiet --python "$(command -v python)" "$work/venv"
fi
# No linters: they are the same for every patch, and pin each other's versions.
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
