#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Tests the conformance of real clusters on a bare machine.

set -euo pipefail

usage() {
    cat << EOT
usage: tools/run_conformance.sh [--mode quick|story|focus|certified]
                                [--driver NAME]... [--output DIR]
                                [--offline] [--images DIR] [--keep]
                                [--infrastructure memory|openstack]
                                [--management processes|minikube]

Starts a sandbox whose clusters have real nodes in your Docker, lets Magnum
create a cluster with each driver, runs Sonobuoy in it, and takes everything
down again.

  --mode M      quick (default): one test
                story: a workload keeps serving while Kubernetes is upgraded
                    and a node group is added and removed; quick before and
                    after
                focus: all conformance tests that may run in parallel
                certified: all that CNCF requires, one by one; takes hours
  --driver D    of Magnum, may be repeated (default: k8s_capi_v1 and
                k8s_capi_helm_v1)
  --output DIR where archives and reports go (default: below the state
                folder)
  --offline     where registries and releases cannot be reached: build missing
                images, and start a container engine if no Docker answers
  --images DIR  where image archives are (default: below the cache folder)
  --infrastructure I, --management M
                as for "magnum-capi sandbox up": openstack makes the nodes
                servers of Nova; minikube runs Cluster API and the OpenStack
                provider in pods, as users do, and needs openstack
  --keep        leave the sandbox up

Needs Docker; --offline and --infrastructure openstack need root. Images that
are built here are stand-ins, so the reports do not certify anything.

Exit code: 0 all tests passed; 1 some failed; 2 wrong usage; 3 the result is
unknown, or this machine lacks something, named in the last line.
EOT
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"

mode=quick
drivers=()
results=
images=()
infrastructure=memory
management=processes
offline=
engine=
keep=
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --keep) keep=yes ;;
        --offline) offline=yes ;;
        --mode | --driver | --output | --images | --infrastructure | \
            --management)
            need_value "$@"
            case $1 in
                --mode) mode=$2 ;;
                --driver) drivers+=("$2") ;;
                --output) results=$2 ;;
                --images) images=("$2") ;;
                --infrastructure) infrastructure=$2 ;;
                --management) management=$2 ;;
            esac
            shift ;;
        *) unknown "$1" ;;
    esac
    shift
done
case $mode in
    quick | story | focus | certified) ;;
    *) DIE_CODE=2 die 'Unknown mode' "--mode $mode" \
           'Use quick, story, focus or certified' ;;
esac
case $infrastructure/$management in
    memory/processes | openstack/processes | openstack/minikube) ;;
    *) DIE_CODE=2 die 'Such clusters cannot be made' \
           "--infrastructure $infrastructure --management $management" \
           'Use memory or openstack; minikube needs openstack' ;;
esac
if ((${#drivers[@]} == 0)); then
    drivers=(k8s_capi_v1 k8s_capi_helm_v1)
fi

# Minor versions of Kubernetes of the clusters: their own, and that of upgrades.
minors=(1.35)
test_class=ConformanceTest
plan=quick
options=()
case $mode in
    story)
        test_class=ConformanceLifeTest
        minors+=(1.36) ;;
    focus)
        # The e2e tests leave the control plane alone: two workers.
        plan=$TOP/tools/conformance_focus.yaml
        options=(node_count=2) ;;
    certified)
        plan=certified-conformance
        options=(node_count=2) ;;
esac

if [[ $offline || $infrastructure == openstack ]] && ((EUID != 0)); then
    die 'Skipped: such nodes need root' "user $(id -un)" \
        'Omit --offline and --infrastructure openstack'
fi

started=
# shellcheck disable=SC2317  # called by the trap
finish() {
    local code=$?
    trap - EXIT
    # A second Ctrl-C must not stop the cleanup.
    trap '' INT TERM HUP PIPE
    if [[ $started && ! $keep ]]; then
        magnum-capi sandbox down --directory "$box" || code=$((code ? code : 1))
    fi
    if [[ $engine && ! $keep ]]; then
        "$TOP/tools/offline/docker.sh" down --directory "$engine" \
            || code=$((code ? code : 1))
    fi
    if [[ $started && $keep ]]; then
        echo "The sandbox stays up. Take it down with:"
        echo "  ${VIRTUAL_ENV@Q}/bin/magnum-capi sandbox down --directory ${box@Q}"
    fi
    exit "$code"
}
trap_finish

STATE=${MAGNUM_CAPI_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/magnum-capi}
box=$STATE/conformance-sandbox
results=$(realpath -m "${results:-$STATE/results/conformance-$(date -u +%Y%m%dT%H%M%S)}")

# Measured on 2 cores.
say 'Phase: this machine: Python packages 1 GB and 1 min'
prepare run

# evaluate COMMAND...: take over the variables that it prints.
evaluate() {
    local variables
    variables=$("$@")
    eval "$variables"
}

if [[ $offline ]]; then
    say 'Phase: images, and Docker if there is none; takes seconds if they exist'
    if ! docker version > /dev/null 2>&1; then
        engine=$STATE/conformance-engine
        evaluate "$TOP/tools/offline/docker.sh" up --directory "$engine"
    fi
    "$TOP/tools/offline/images.sh" load "${images[@]/#/--directory=}" \
        "${minors[@]/#/--kubernetes=}"
    if [[ $management == minikube ]]; then
        evaluate "$TOP/tools/offline/minikube.sh" "${images[@]/#/--images=}" \
            ${engine:+--engine "$engine"}
    fi
fi

say 'Phase: Sonobuoy; takes seconds if it exists'
python -m magnum_capi_tempest.toolchain sonobuoy > /dev/null

say 'Phase: sandbox with real nodes'
start magnum-capi sandbox up --directory "$box" --nodes docker \
    --infrastructure "$infrastructure" --management "$management" \
    --install "$TOP/drivers/k8s_capi_v1"

code=0
arguments=()
for option in "conformance_plan=$plan" "${options[@]}"; do
    arguments+=(--option "$option")
done
for driver in "${drivers[@]}"; do
    say "Phase: $mode with the driver $driver"
    magnum-capi sandbox tempest --directory "$box" --driver "$driver" \
        --concurrency 1 --regex "test_conformance\.$test_class" \
        --output "$results/$driver" "${arguments[@]}" \
        || code=$(($? == 1 || code == 1 ? 1 : 3))
done

echo
echo 'Reports:'
find "$results" -path '*/conformance/*' -name report.html | sort
exit "$code"
