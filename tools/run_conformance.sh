#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Tests the conformance of real clusters on a bare machine.

set -euo pipefail

usage() {
    cat << EOT
usage: tools/run_conformance.sh [--mode quick|story|focus|certified]
                                [--driver NAME]... [--output DIR]
                                [--images DIR] [--keep]
                                [--infrastructure memory|openstack]
                                [--management processes|minikube]

Builds missing node images, starts a sandbox whose clusters have real nodes,
lets Magnum create a cluster with each driver, runs Sonobuoy in it, and takes
everything down again.

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
  --images DIR  where image archives are (default: below the cache folder)
  --infrastructure I, --management M
                as for "magnum-capi sandbox up": openstack makes the nodes
                servers of Nova; minikube runs Cluster API and the OpenStack
                provider in pods, as users do, and needs openstack
  --keep        leave the sandbox up

Needs root and containers. The images are stand-ins that are built here, so
the reports do not certify anything.

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
keep=
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --keep) keep=yes ;;
        --mode | --driver | --output | --images | --infrastructure | \
            --management)
            need_value "$@"
            case $1 in
                --mode) mode=$2 ;;
                --driver) drivers+=("$2") ;;
                --output) results=$2 ;;
                --images) images=(--images "$2") ;;
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

if ((EUID != 0)); then
    die 'Skipped: real nodes need root' "user $(id -un)" \
        'tools/run_sandbox.sh works without root'
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
    elif [[ $started ]]; then
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
say 'Phase: this machine: Python packages 1 GB and 1 min, Debian packages'
prepare run
packages nodes
problem=$(python -c 'from magnum_capi_tempest import containers
print(containers.problem() or "")')
if [[ $problem ]]; then
    die 'Skipped: real nodes cannot run here' "$problem" \
        'tools/run_sandbox.sh works without them'
fi

# archives NAME... [--kubernetes MINOR]...: builds those that are missing.
archives() {
    python "$TOP/tools/offline/images.py" build \
        "${images[@]/#--images/--directory}" --only "$@"
}
say 'Phase: image archives; takes seconds if they exist'
archives node haproxy "${minors[@]/#/--kubernetes=}"
if [[ $management == minikube ]]; then
    # Its machine, of another Kubernetes, and what runs in its pods.
    archives kicbase capd-manager capi-openstack-controller cert-manager \
        cluster-api-controller kubeadm-bootstrap-controller \
        kubeadm-control-plane-controller openstack-resource-controller \
        --kubernetes=1.34
fi

say 'Phase: Sonobuoy, built from its Go module; takes seconds if it exists'
python -m magnum_capi_tempest.toolchain sonobuoy > /dev/null

say 'Phase: sandbox with real nodes'
started=yes
magnum-capi sandbox up --directory "$box" --nodes docker "${images[@]}" \
    --infrastructure "$infrastructure" --management "$management" \
    --install "$TOP/drivers/k8s_capi_v1" || not_ours

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
