#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs the tests of this project on a bare machine.

set -uo pipefail

STAGES=(style unit functional docs sandbox)
# Only run when named.
LONGER=(system)

usage() {
    cat << EOF
usage: tools/run_tests.sh [--only STAGE]...

Sets everything up and runs these stages, in this order:

  style       flake8, doors between rooms, types, doc8, bashate
  unit        hermetic tests
  functional  tests with real programs on this machine
  docs        documentation and release notes, a warning is an error
  sandbox     a whole cloud, with the oldest and with the newest Magnum, using
              the distribution's Python if it is 3.11 or newer; smoke tests
              and a cluster's life cycle in each

This one takes longer and only runs when it is named:

  system      whole sandboxes: faults while they start, other users, secrets,
              OpenStack as infrastructure, drivers installed and changed; the
              filter behind each server, restored management clusters

  --only STAGE   run only this stage; may be repeated

Reports go below the state folder, including JUnit XML for CI systems.
The last line is "N passed, N failed"; a stage without tests counts as one.
A stage in which no test passes has failed. Exit code: 0 nothing failed, 1
something failed, 2 wrong usage, 3 this machine lacks something.
EOF
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"
cd "$TOP" || exit

only=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --only) need_value "$@"; only+=("$2"); shift ;;
        --only=*) only+=("${1#*=}") ;;
        *) unknown "$1" ;;
    esac
    shift
done
for stage in "${only[@]}"; do
    one_of stage "$stage" "${STAGES[@]}" "${LONGER[@]}"
done
[[ ${#only[@]} -gt 0 ]] || only=("${STAGES[@]}")

passed=0
failed=0
sandbox=
work=
# shellcheck disable=SC2317  # called by the trap
finish() {
    local code=$?
    trap - EXIT
    trap '' INT TERM HUP PIPE
    [[ -z $sandbox ]] || magnum-capi sandbox down
    [[ -z $work ]] || rm -rf "$work"
    exit "$code"
}
trap_finish

# count OK BAD: add to the totals.
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# check WHAT COMMAND...: run a part of a stage that is not a test.
check() {
    local what=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        say "  $what: ok"
    else
        cat "$work/log"
        say "  $what: FAILED"
        return 1
    fi
}

stage_style() {
    local bad=0
    check flake8 flake8 || bad=1
    check 'doors between rooms' lint-imports --no-logo --no-cache || bad=1
    check 'test ids' check-uuid --package magnum_capi_tempest.tests || bad=1
    check types mypy --config-file magnum-capi/pyproject.toml \
        --cache-dir "$VIRTUAL_ENV/mypy" magnum-capi/magnum_capi || bad=1
    check 'types of plugin and sandbox' mypy \
        --cache-dir "$VIRTUAL_ENV/mypy-rest" || bad=1
    check doc8 doc8 -q ./*.rst doc/source releasenotes/notes || bad=1
    check bashate bashate -i E003,E006 tools/*.sh tools/offline/*.sh \
        .ci/run || bad=1
    count $((1 - bad)) $bad
    return $bad
}

# tests FOLDER WORKERS SECONDS: run tests with stestr and count the recorded
# results. All processes are killed after SECONDS, and on Ctrl-C. Workers get
# equal shares by the recorded durations.
tests() {
    local folder=$1 name=${1##*/} begin_failed=$failed
    local repository=$work/$name stream=$reports/$name/$name.subunit
    local log=$work/$name/log
    local known=$CACHE/durations/tests-$name${MAGNUM_CAPI_LONG:+-long}.subunit
    mkdir -p "$repository" "${stream%/*}"
    # The terminal gets a summary of the recorded stream. A non-zero exit code
    # is data, not an error of this wrapper.
    OS_TEST_PATH=$folder python - "$3" "$name tests" "$known" "$repository" \
        "$stream" "$log" bash -c '
        stestr --repo-url "$1" run --concurrency "$2" --subunit \
            > "$3" 2> "$4"
        echo $? > "$4.code"
        ' stestr "$repository" "$2" "$stream" "$log" << 'EOF'
import pathlib
import sys

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from tests import durations

timeout, what, known, repository, stream, log, *command = sys.argv[1:]
try:
    with progress.Progress(patience=15).step(what):
        durations.tell(repository, known)
        processes.run(command, timeout=float(timeout))
    # Otherwise a test module cannot be imported, or a worker has died.
    if pathlib.Path(f'{log}.code').read_text().strip() == '0':
        durations.keep(stream, known)
except errors.CommandFailed as e:
    sys.exit(f'The tests did not finish within {e.elapsed:.0f} s')
except KeyboardInterrupt:
    sys.exit(130)
EOF
    summary "$stream" "${stream%/*}" "$name tests"
    # A module that cannot be imported, or a dead worker, leaves no failed
    # test, only an exit code.
    if [[ $(cat "$log.code") != 0 ]]; then
        # stestr writes what it cannot import in place of the stream.
        [[ -e ${stream%/*}/report.json ]] || log=$stream
        tail -n 25 "$log"
        [[ $failed -gt $begin_failed ]] || count 0 1
    fi
    [[ $failed -eq $begin_failed ]]
}

# summary STREAM FOLDER TITLE: show a stream and add it to the totals.
summary() {
    local code=0
    magnum-capi report show --output "$2" --title "$3" "$1" || code=$?
    add "$2/report.json" || code=1
    return $code
}

# add FILE: add the counts of a report to the totals, at least one.
add() {
    local counts
    counts=$(python - "$1" 2> /dev/null << 'EOF'
import json
import sys

with open(sys.argv[1]) as stream:
    run = json.load(stream)
print(run['passed'], run['failed'] or int(not run['ok']))
EOF
    ) || counts='0 1'
    # shellcheck disable=SC2086  # two numbers
    count $counts
}

stage_unit() {
    tests ./tests/unit 2 900
}

stage_functional() {
    tests ./tests/functional 2 3600
}

stage_system() {
    tests ./tests/system 2 7200
}

stage_docs() {
    local bad=0
    check 'documentation' sphinx-build -q -W --keep-going -b html \
        -d "$work/doctrees" doc/source "$work/html" || bad=1
    check 'release notes' reno -q lint || bad=1
    count $((1 - bad)) $bad
    return $bad
}

# distribution_python: print the path of the distribution's Python, if usable.
# It may be older than the Python of the other stages: Debian 12 has 3.11.2,
# which lacks additions of later 3.11 releases.
distribution_python() {
    local python=/usr/bin/python3
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
        2> /dev/null || return
    # Its venv is a separate package, which lib.sh installs as root.
    if ((EUID != 0)); then
        "$python" -c 'import ensurepip, venv' 2> /dev/null || return
    fi
    echo "$python"
}

stage_sandbox() {
    local python path=$PATH venv=$VIRTUAL_ENV code=0
    if python=$(distribution_python); then
        PYTHON=$python prepare test
    fi
    say "With $(python --version) of $(
        python -c 'import sys; print(sys.base_prefix)')"
    start_and_test || code=1
    export PATH=$path VIRTUAL_ENV=$venv
    hash -r
    return $code
}

start_and_test() {
    # Not the developer's own sandbox, which may be up, but always the same
    # folder, so that leftovers of a killed run are cleaned up.
    export MAGNUM_CAPI_STATE=$state/sandbox
    local results=$reports/sandbox code=0
    mkdir -p "$MAGNUM_CAPI_STATE"
    exec 8> "$MAGNUM_CAPI_STATE/lock"
    if ! flock -n 8; then
        say 'Waiting for another run of the sandbox stage'
        flock 8
    fi
    sandbox=yes
    if ! magnum-capi sandbox up --profile embedded --magnum 2025.1 \
            --install drivers/k8s_capi_v1 8>&-; then
        count 0 1
        code=1
    else
        # A name, as in devstack's plugin; other runs use an id.
        magnum-capi sandbox tempest --output "$results/2025.1" \
            --driver k8s_capi_v1 --option image_id=ubuntu-capi \
            --regex 'magnum_capi.*(smoke|test_cluster_lifecycle)' 8>&- || code=1
        add "$results/2025.1/report.json"
    fi
    if ! { magnum-capi sandbox down \
            && magnum-capi sandbox up --profile embedded --clash \
                --discovery-filter; } 8>&-; then
        count 0 1
        code=1
    else
        magnum-capi sandbox tempest --output "$results" \
            --regex 'magnum_capi.*(smoke|test_cluster_lifecycle)' 8>&- || code=1
        add "$results/report.json"
        magnum-capi sandbox tempest --output "$results/k8s_capi_helm_v1" \
            --driver k8s_capi_helm_v1 \
            --regex 'magnum_capi.*test_cluster_lifecycle' 8>&- || code=1
        add "$results/k8s_capi_helm_v1/report.json"
    fi
    magnum-capi sandbox down 8>&- || code=1
    sandbox=
    exec 8>&-
    return $code
}

state=${XDG_STATE_HOME:-$HOME/.local/state}/magnum-capi
state=${MAGNUM_CAPI_STATE:-$state}/run_tests
reports=$state/reports/$(date +%Y%m%d-%H%M%S)-$$
mkdir -p "$reports" || die 'Cannot write to the state folder' "$state" \
    'Make it writable, or set MAGNUM_CAPI_STATE to another one'
# Keep the last nine older runs.
find "$state/reports" -mindepth 1 -maxdepth 1 -print0 | sort -rz \
    | tail -zn +11 | xargs -0r rm -rf
work=$(mktemp -d)
prepare test
packages test
for stage in "${STAGES[@]}" "${LONGER[@]}"; do
    [[ " ${only[*]} " == *" $stage "* ]] || continue
    begin=$SECONDS
    before=$failed
    say "=== $stage"
    if stage_$stage; then
        say "=== $stage passed in $((SECONDS - begin)) s"
    else
        # Every failure must show in the totals.
        [[ $failed -gt $before ]] || count 0 1
        say "=== $stage FAILED in $((SECONDS - begin)) s"
    fi
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
