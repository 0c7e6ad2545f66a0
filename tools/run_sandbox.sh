#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs tempest against a real Magnum on a bare machine.

set -euo pipefail

usage() {
    cat << EOF
usage: tools/run_sandbox.sh [--quick] [--keep] [--plain] [--magnum RELEASE]
                           [--profile embedded|full] [--nodes memory|docker]
                           [OPTION...] [-- ARGUMENT...]

Sets everything up, starts the sandbox (a cloud with Magnum and Cluster API on
loopback), runs tempest against it and takes the sandbox down again, unless it
was up before. The driver under test is k8s_capi_v1, which clashes with
magnum-capi-helm.

  --quick       only the life of a cluster, and of clusters of both drivers
                side by side
  --keep        leave the sandbox up
  --plain       plain Magnum with magnum-capi-helm: without the filter of the
                discovery specification, and without drivers that clash
  --magnum R    2025.1, 2025.2, 2026.1 or 2026.2 (default: the newest), or a
                checkout of Magnum, or a wheel of it
  --profile P   embedded (default): sqlite, no message broker
                full: https, private MariaDB and RabbitMQ
  --nodes K     memory (default): nodes that run nothing
                docker: real nodes, containers in your Docker
  OPTION        of "magnum-capi sandbox tempest": --regex, --driver,
                --third-party, --concurrency, --promise, --option, --output;
                without --regex all tests of magnum_capi run
  ARGUMENT      more arguments for "tempest run"

Exit code: that of tempest; 2 wrong usage, before anything is installed, 3 this
machine lacks something.
EOF
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"

# said NAME VALUE...: exit with a usage error unless what follows names the
# value of an option that the programs know. It is read where they know it.
said() {
    local name=$1 value=$2 known
    shift 2
    # shellcheck disable=SC2046  # words
    case $name in
        -c | --concurrency)
            [[ $value =~ ^[0-9]+$ ]] ||
                DIE_CODE=2 die 'This is not a number of workers' \
                    "$name $value" 'See --help' ;;
        --promise)
            one_of promise "$value" $(sed -n "s/^PROMISES = (\(.*\))$/\1/p" \
                "$TOP/sandbox/magnum_capi_sandbox/tempest_run.py" |
                tr -d "',") ;;
        --driver)
            one_of driver "$value" $(sed -n 's/^name: //p' \
                "$TOP"/magnum_capi_tempest/descriptions/*.yaml \
                "$TOP/magnum-capi/magnum_capi/driver/magnum-capi.yaml"
                sed -n 's/^\(k8s_[a-z0-9_]*\) = .*/\1/p' \
                    "$TOP/sandbox/drivers/clash/pyproject.toml") ;;
        --magnum)
            [[ $value == */* || -e $value || $value == patched ]] ||
                one_of 'release of Magnum' "$value" $(grep -o \
                    "Release('[0-9.]*', [0-9]*" \
                    "$TOP/sandbox/magnum_capi_sandbox/releases.py" |
                    sed "s/Release(//; s/[',]//g") ;;
        --option)
            known="^        '${value%%=*}',"
            [[ $value == - ]] || { [[ $value == ?*=* ]] && grep -q "$known" \
                "$TOP/magnum_capi_tempest/config.py"; } ||
                DIE_CODE=2 die 'This is not NAME=VALUE of [magnum_capi]' \
                    "$name $value" 'Its options are in config.py' ;;
    esac
    (($# == 0)) || said "$@"
}

keep=
quick=
regex=
third_party=
given=()
drivers=(--clash --discovery-filter)
magnum=()
profile=embedded
nodes=memory
arguments=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --quick) quick=yes; arguments+=("$1") ;;
        --keep) keep=yes ;;
        --plain) drivers=() ;;
        --magnum)
            need_value "$@"
            magnum=(--magnum "$2"); given+=("$1" "$2")
            shift ;;
        --magnum=*)
            magnum=(--magnum "${1#*=}"); given+=(--magnum "${1#*=}") ;;
        --profile) need_value "$@"; profile=$2; shift ;;
        --profile=*) profile=${1#*=} ;;
        --nodes) need_value "$@"; nodes=$2; shift ;;
        --nodes=*) nodes=${1#*=} ;;
        -r | --regex | --driver | -c | --concurrency | --promise | --option | \
            --output)
            need_value "$@"
            arguments+=("$1" "$2")
            given+=("$1" "$2")
            shift ;;
        --regex=* | --driver=* | --concurrency=* | --promise=* | --option=* | \
            --output=*)
            arguments+=("$1")
            given+=("${1%%=*}" "${1#*=}") ;;
        --third-party) third_party=yes; arguments+=("$1") ;;
        --) arguments+=("$@"); break ;;
        *) unknown "$1" ;;
    esac
    shift
done
case $profile in
    embedded | full) ;;
    *) DIE_CODE=2 die 'Unknown profile' "--profile $profile" \
           'Use embedded or full' ;;
esac

case $nodes in
    memory | docker) ;;
    *) DIE_CODE=2 die 'Unknown nodes' "--nodes $nodes" \
           'Use memory or docker' ;;
esac

((${#given[@]} == 0)) || said "${given[@]}"
if [[ " ${given[*]} " == *' --regex '* || " ${given[*]} " == *' -r '* ]]; then
    regex=yes
fi
if [[ $quick && ($regex || $third_party) ]]; then
    DIE_CODE=2 die '--quick chooses the tests' "${arguments[*]}" \
        'Omit --quick, or --regex and --third-party'
fi
if [[ $third_party && ${drivers[*]} ]]; then
    DIE_CODE=2 die 'magnum-tempest-plugin names no driver, and these clash' \
        --third-party 'Add --plain'
fi

started=
# shellcheck disable=SC2317  # called by the trap
finish() {
    local code=$?
    trap - EXIT
    # A second Ctrl-C must not stop the cleanup.
    trap '' INT TERM HUP PIPE
    if [[ $started && ! $keep ]]; then
        magnum-capi sandbox down || code=$((code ? code : 1))
    elif [[ $started ]]; then
        echo "The sandbox stays up. Use it, and take it down with:"
        echo "  eval \"\$(${VIRTUAL_ENV@Q}/bin/magnum-capi sandbox env)\""
        echo "  ${VIRTUAL_ENV@Q}/bin/magnum-capi sandbox down"
    fi
    exit "$code"
}
trap_finish

prepare run
packages "$profile"
# That of somebody else stays.
! magnum-capi sandbox status > /dev/null 2>&1 || keep=yes
start magnum-capi sandbox up --profile "$profile" --nodes "$nodes" \
    "${magnum[@]}" "${drivers[@]}"
magnum-capi sandbox tempest "${arguments[@]}"
