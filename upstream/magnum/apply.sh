#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Applies the patches next to this file to Magnum from PyPI.
#
# Usage: apply.sh FOLDER
# FOLDER/magnum-... becomes a git repository with a commit for each patch.
# PYTHON is the interpreter whose pip is used (default: python).

set -eu -o pipefail

VERSION=23.0.0
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
source=$work/magnum-$VERSION

# The wheel has neither release notes nor documentation.
if [[ ! -f $source.tar.gz ]]; then
    "${PYTHON:-python}" -m pip download --quiet --no-deps --no-binary magnum \
        --dest "$work" "magnum==$VERSION"
fi
rm -rf "$source"
tar --no-same-owner -xzf "$source.tar.gz" -C "$work"

# Reviewers use "git am", and it is strict about context.
export GIT_CONFIG_GLOBAL=/dev/null
export GIT_COMMITTER_NAME=magnum-capi GIT_COMMITTER_EMAIL=magnum-capi@localhost
git -C "$source" init --quiet
git -C "$source" add --force --all
git -C "$source" commit --quiet --message "Magnum $VERSION" \
    --author "magnum-capi <magnum-capi@localhost>"
git -C "$source" am "$here"/*.patch
