#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Lets a real Zuul on this machine read all jobs; runs those without devstack.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"

prepare test
cd "$TOP"
case " $* " in
    *' -h '* | *' --help '* | *' --list '*) ;;
    *) packages zuul full test ;;
esac
exec python -m tests.zuul "$@"
