#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Lets a real Zuul on this machine read all jobs; runs those without devstack.

set -euo pipefail

usage() {
    cat << EOF
usage: tools/run_zuul.sh [--list] [--read] [--results DIR] [--timeout SECONDS]
                         [JOB...]

A real Zuul on a loopback network reads all jobs of this project and runs those
that no devstack needs.

  JOB          run only these; patterns such as "*-clash" are fine (default:
               the proof-* and those of check)
  --list       name the jobs that can be run
  --read       run no job, only have Zuul read all of them
  --results D  where report and logs go (default: below the state folder)
  --timeout S  seconds for all jobs (default: 14400)

Exit code: 0 all is as it must be; 1 something is not; 2 wrong usage; 3 this
machine lacks something.
EOF
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"

arguments=("$@")
list=
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --list) list=yes ;;
        --results | --timeout)
            need_value "$@"
            shift ;;
        --read | --results=* | --timeout=*) ;;
        -*) unknown "$1" ;;
    esac
    shift
done

prepare test
cd "$TOP"
[[ $list ]] || packages zuul full test
exec python -m tests.zuul "${arguments[@]}"
