#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Runs a real devstack with this plugin, in a Debian container with systemd.

set -euo pipefail

STEPS=(stack services preflight smoke life unstack restack clean)

usage() {
    cat << EOT
usage: tools/run_devstack.sh [--folder DIR] [--branch B] [--new] [--keep]
                             REPOSITORIES [STEP]...

Stacks Keystone, Glance, Nova and Cinder with their fake drivers, Neutron and
Octavia with OVN, Magnum and this plugin in a container, tests them, and takes
everything down again.

  REPOSITORIES  a folder with git repositories as on opendev.org:
                openstack/devstack.git, openstack/keystone.git and so on. They
                only need the branch to stack; tempest and os-test-images only
                have master
  STEP          in this order, all by default:
                  stack      stack.sh
                  services   a load balancer of OVN answers, a volume of
                             Cinder is created; both are deleted
                  preflight  tempest run --regex 'magnum_capi.*preflight'
                  smoke      tempest run --regex 'magnum_capi.*smoke'
                  life       tempest run --regex 'magnum_capi.*test_cluster_lifecycle'
                  unstack    unstack.sh
                  restack    stack.sh once more, preflight, life
                  clean      unstack.sh, clean.sh; nothing of ours may remain
  --folder DIR  the container's root and logs (default: below the state
                folder). It is kept, so that later runs need not install the
                packages again
  --branch B    of the repositories (default: stable/2026.1); another branch
                than that of an existing root needs --new
  --new         make the container's root anew
  --keep        leave the container up until Ctrl-C, and print how to enter it

Needs root, 15 GB of disk and 8 GB of memory. The container has its own
network, and nothing listens outside of it. Takes over an hour on 2 cores.

Exit code: 0 all steps passed; 1 one failed; 2 wrong usage; 3 this machine
lacks something, named in the last line.
EOT
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tools/lib.sh
source "$TOP/tools/lib.sh"

ADDRESS=192.168.77.2 GATEWAY=192.168.77.1
STATE=${MAGNUM_CAPI_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/magnum-capi}
folder=$STATE/devstack
branch=stable/2026.1
arguments=("$@")
keep=
new=
words=()
while (($#)); do
    case $1 in
        -h | --help) usage; exit 0 ;;
        --keep) keep=yes ;;
        --new) new=yes ;;
        --folder | --branch)
            need_value "$@"
            declare "${1#--}=$2"
            shift ;;
        -*) unknown "$1" ;;
        *) words+=("$1") ;;
    esac
    shift
done
if ((${#words[@]} == 0)); then
    DIE_CODE=2 die 'No folder with repositories' "$0" 'See --help'
fi
repositories=$(realpath -m "${words[0]}")
steps=("${words[@]:1}")
if ((${#steps[@]} == 0)); then
    steps=("${STEPS[@]}")
fi
for step in "${steps[@]}"; do
    one_of step "$step" "${STEPS[@]}"
done
for name in devstack requirements keystone glance nova placement neutron \
        cinder octavia ovn-octavia-provider magnum python-magnumclient \
        tempest os-test-images; do
    if [[ ! -d $repositories/openstack/$name.git ]]; then
        DIE_CODE=2 die "There is no repository of $name" \
            "$repositories/openstack/$name.git" \
            'Clone it there: git clone --mirror'
    fi
done
folder=$(realpath -m "$folder")
rootfs=$folder/root
# The lock is older than any root of this script.
if [[ -e $rootfs && ! -e $folder/lock ]]; then
    DIE_CODE=2 die 'This is not the root of a container' "$rootfs" \
        'Use a new folder'
fi
if ((EUID != 0)); then
    die 'A container with systemd needs root' "user $(id -un)" \
        'Run it as root'
fi
# Mounts made here disappear with this script, however it ends.
if [[ ${MAGNUM_CAPI_MOUNTS-} != "$$" ]]; then
    MAGNUM_CAPI_MOUNTS=$$ exec unshare --mount "$0" "${arguments[@]}"
fi

logs=$folder/logs
network=$folder/network
mkdir -p "$folder" "$logs" "$network"
exec 7> "$folder/lock"
flock -n 7 || die 'Another run uses this folder' "$folder" \
    'Wait for it, or use another --folder'

# make_root: make a Debian 12 with everything that devstack expects.
make_root() {
    rm -rf --one-file-system "$rootfs"
    quietly 'Make the root of the container' mmdebstrap --variant=minbase \
        --include="systemd,systemd-sysv,dbus,sudo,git,ca-certificates,\
iproute2,iputils-ping,procps,psmisc,locales,lsb-release,python3,python3-dev,\
python3-pip,python3-venv,curl,wget,iptables,openssl,gettext-base,kmod,less,\
net-tools,hostname,libpam-systemd,netbase,tzdata,bzip2,xz-utils,gcc,g++,\
libc6-dev,libffi-dev,libssl-dev,pkg-config,cron,util-linux-extra,parted,\
genisoimage,qemu-utils" bookworm "$rootfs" \
        || die 'mmdebstrap failed, see above' "$rootfs" \
            'Is a mirror of Debian reachable?'
    echo devstack > "$rootfs/etc/hostname"
    printf '127.0.0.1 localhost devstack\n::1 localhost\n' > "$rootfs/etc/hosts"
    printf '[safe]\n\tdirectory = *\n' > "$rootfs/etc/gitconfig"
    chroot "$rootfs" useradd -m -d /opt/stack -s /bin/bash stack
    chmod 755 "$rootfs/opt/stack"
    echo 'stack ALL=(ALL) NOPASSWD: ALL' > "$rootfs/etc/sudoers.d/stack"
    # The kernel of a container has no iSCSI.
    write etc/systemd/system/iscsid.service.d/none.conf << 'EOT'
[Service]
Type=oneshot
RemainAfterExit=yes
PIDFile=
ExecStartPre=
ExecStart=
ExecStart=/bin/true
EOT
    # Nor has it modules for Open vSwitch: bridges are in user space.
    write etc/systemd/system/ovs-vswitchd.service.d/netdev.conf << 'EOT'
[Service]
ExecStartPost=/usr/bin/ovs-vsctl --no-wait -- --may-exist add-br br-ex -- set Bridge br-ex datapath_type=netdev -- set Open_vSwitch . external-ids:ovn-bridge-datapath-type=netdev
EOT
    # Nor has it a writable switch for kernel same-page merging.
    write etc/systemd/system/magnum-capi-ksm.service << 'EOT'
[Service]
Type=oneshot
ExecStart=/bin/mount -t tmpfs none /sys/kernel/mm/ksm
[Install]
WantedBy=multi-user.target
EOT
    chroot "$rootfs" systemctl -q enable magnum-capi-ksm.service
    # Magnum's plugin downloads programs that only its own tests would run.
    write usr/local/lib/magnum-capi/sonobuoy <<< '#!/bin/false'
    chmod 755 "$rootfs/usr/local/lib/magnum-capi/sonobuoy"
    cp -p "$rootfs"/usr/local/lib/magnum-capi/{sonobuoy,kubectl}
    tar -czf "$rootfs/usr/local/lib/magnum-capi/sonobuoy.tar.gz" \
        -C "$rootfs/usr/local/lib/magnum-capi" sonobuoy
    # Nodes are in memory, so the image may be empty, but Glance checks its
    # format.
    chroot "$rootfs" qemu-img create -q -f qcow2 \
        /usr/local/lib/magnum-capi/ubuntu-24.04-v1.35.5.qcow2 1M
    # devstack's Open vSwitch part puts /bin first on PATH, so wget itself is
    # replaced.
    chroot "$rootfs" dpkg-divert --quiet --local --rename \
        --divert /usr/bin/wget.distrib --add /usr/bin/wget
    write usr/bin/wget << 'EOT'
#!/bin/bash
case "$*" in
    *dl.k8s.io*)
        while [[ $1 != -O ]]; do shift; done
        cp /usr/local/lib/magnum-capi/kubectl "$2" ;;
    *sonobuoy*) cat /usr/local/lib/magnum-capi/sonobuoy.tar.gz ;;
    *) exec /usr/bin/wget.distrib "$@" ;;
esac
EOT
    chmod 755 "$rootfs/usr/bin/wget"
    touch "$folder/made"
}

write() {
    mkdir -p "$rootfs/$(dirname "$1")"
    cat > "$rootfs/$1"
}

# configure: copy this machine's settings and this checkout, in each run.
configure() {
    local file
    rm -f "$rootfs/etc/apt/sources.list"
    for file in /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/pip.conf \
            /etc/resolv.conf /usr/local/share/ca-certificates; do
        if [[ -e $file ]]; then
            rm -rf "${rootfs:?}$file"
            cp -rL "$file" "$rootfs$file"
        fi
    done
    chroot "$rootfs" update-ca-certificates > /dev/null 2>&1
    rm -rf "$folder/plugin.git"
    git clone -q --bare "$TOP" "$folder/plugin.git"
    git -C "$folder/plugin.git" update-ref refs/heads/devstack \
        "$(git -C "$TOP" rev-parse HEAD)"
    git -C "$repositories/openstack/requirements.git" show \
        master:upper-constraints.txt > "$folder/upper-constraints.txt"
    chmod -R a+rX "$folder/plugin.git" "$folder/upper-constraints.txt"
    write opt/stack/local.conf << EOT
[[local|localrc]]
ADMIN_PASSWORD=devstack
DATABASE_PASSWORD=\$ADMIN_PASSWORD
RABBIT_PASSWORD=\$ADMIN_PASSWORD
SERVICE_PASSWORD=\$ADMIN_PASSWORD
HOST_IP=$ADDRESS
SERVICE_IP_VERSION=4
IP_VERSION=4
GIT_BASE=/opt/git
LOGFILE=/opt/stack/logs/stack.sh.log
LOG_COLOR=False
VERBOSE=True
API_WORKERS=1
SERVICE_TIMEOUT=600
NOVA_READY_TIMEOUT=600
ENABLE_KSM=False
ENABLE_KSMTUNED=False
ENABLE_ZSWAP=False
ENABLE_SYSCTL_MEM_TUNING=False
ENABLE_SYSCTL_NET_TUNING=False
DOWNLOAD_DEFAULT_IMAGES=False
TEMPEST_VENV_UPPER_CONSTRAINTS=/opt/magnum-capi/upper-constraints.txt
VIRT_DRIVER=fake
OVS_DATAPATH_TYPE=netdev
CINDER_ENABLED_BACKENDS=fake:fake

disable_all_services
enable_service key mysql rabbit g-api placement-api placement-client
enable_service n-api n-cpu n-cond n-sch
enable_service q-svc ovn-controller ovn-northd ovs-vswitchd ovsdb-server
enable_service c-api c-sch c-vol
enable_service tempest openstack-cli-server

enable_plugin octavia /opt/git/openstack/octavia.git $branch
enable_plugin ovn-octavia-provider /opt/git/openstack/ovn-octavia-provider.git $branch
enable_service octavia o-api o-hk o-da
OCTAVIA_NODE=api
DISABLE_AMP_IMAGE_BUILD=True

MAGNUM_GUEST_IMAGE_URL=file:///usr/local/lib/magnum-capi/ubuntu-24.04-v1.35.5.qcow2
MAGNUM_GUEST_IMAGE_EXTRA_PROPERTIES="--property kube_version=v1.35.5"
MAGNUM_KUBECTL_TAG=v1.35.5
MAGNUM_SONOBUOY_TAG=v0.57.5
MAGNUMCLIENT_BRANCH=$branch
enable_plugin magnum /opt/git/openstack/magnum.git $branch

enable_plugin magnum-capi-tempest /opt/magnum-capi/plugin.git devstack
MAGNUM_CAPI_DRIVERS=k8s_capi_v1
MAGNUM_CAPI_MANAGEMENT_BACKEND=processes

[[post-config|\$MAGNUM_CONF]]
[k8s_capi]
chart_name = /opt/stack/magnum-capi-tempest/sandbox/charts/sandbox-cluster
EOT
}

# inside COMMAND: run it in a shell of the user stack, in the container.
inside() {
    nsenter -t "$leader" -m -u -i -n -p -C -r -w \
        su - stack -c "export PATH=\$PATH:/usr/sbin:/sbin; $1" < /dev/null
}

# background COMMAND... &: run a program that ends if this script is killed
# with kill -9. Ctrl-C does not reach it; this script handles that.
background() {
    exec setpriv --pdeathsig KILL setsid "$@" < /dev/null 7>&-
}

# children PID: print the PIDs of its children.
children() {
    [[ $1 ]] && cat "/proc/$1/task/$1/children" 2> /dev/null | xargs
}

container=
leader=
boot() {
    mount -t tmpfs network "$network"
    touch "$network/namespace"
    unshare --net="$network/namespace" ip link set lo up
    # A network in user space, without incoming connections.
    background pasta -q -f --config-net -a "$ADDRESS" -n 24 -g "$GATEWAY" \
        -t none -u none -T none -U none --no-map-gw --runas 0 \
        --netns-only --netns "$network/namespace" &
    SYSTEMD_NSPAWN_API_VFS_WRITABLE=network background unshare --pid --fork \
        --kill-child=KILL --mount-proc systemd-nspawn -q -D "$rootfs" -b \
        --register=no --keep-unit -M devstack \
        --network-namespace-path="$network/namespace" \
        --bind=/dev/net/tun --resolv-conf=off --timezone=off \
        --link-journal=no --bind-ro="$repositories:/opt/git" \
        --bind-ro="$folder:/opt/magnum-capi" \
        --capability=CAP_NET_ADMIN,CAP_SYS_ADMIN,CAP_SYS_RESOURCE \
        --capability=CAP_SYS_NICE,CAP_IPC_LOCK \
        --property=DeviceAllow='/dev/net/tun rw' \
        > "$logs/boot.log" 2>&1 &
    container=$!
    local -i tries=0
    until leader=$(children "$(children "$container")") && [[ $leader ]] \
            && inside 'systemctl is-system-running' 2> /dev/null \
                | grep -qE 'running|degraded'; do
        tries+=1
        [[ $tries -lt 120 ]] && kill -0 "$container" 2> /dev/null \
            || die 'The container did not boot in 2 minutes' \
                "$logs/boot.log" 'See the end of that file'
        sleep 1
    done
}

# shellcheck disable=SC2317  # called by the trap
finish() {
    local code=$?
    trap - EXIT
    trap '' INT TERM HUP PIPE
    if [[ $leader ]]; then
        # Tells systemd, the container's init, to power off.
        kill -s RTMIN+4 "$leader" 2> /dev/null || true
        timeout 60 tail -f --pid="$container" /dev/null || true
    fi
    # Anything left of the container ends with this script.
    exit "$code"
}

devstack() {
    inside "cd ~/devstack && ./$1"
}

# tests WORD: run our tests that have WORD in their id.
tests() {
    inside "cd ~/tempest \
        && .tox/tempest/bin/tempest run --regex 'magnum_capi.*$1'"
}

# services: test a volume and a load balancer. There are no machines, so the
# load balancer's server and client are in network namespaces.
services() {
    inside "$(declare -f use_services plug remove_all); use_services"
}

# The following functions run in the container.

# plug PORT NUMBER: create a port with an interface in a network namespace of
# the same name.
plug() {
    local port mac=fa:16:3e:00:00:$2
    port=$(openstack port create --network capi --host "$(hostname)" \
        --fixed-ip ip-address="10.99.0.$2" --mac-address "$mac" \
        --disable-port-security --no-security-group -f value -c id "$1")
    sudo ip netns add "$1"
    sudo ip link add "tap-$1" type veth peer name eth0 netns "$1"
    sudo ip link set "tap-$1" up
    sudo ip -n "$1" link set eth0 address "$mac" up
    sudo ip -n "$1" addr add "10.99.0.$2/24" dev eth0
    # Open vSwitch in user space needs checksums.
    sudo ip netns exec "$1" ethtool -K eth0 tx off
    sudo ovs-vsctl add-port br-int "tap-$1" \
        -- set interface "tap-$1" external-ids:iface-id="$port"
}

# Removes everything; goes on after a failure, which makes the step fail.
remove_all() {
    local code=$? name
    set +e
    trap 'code=1' ERR
    openstack loadbalancer delete --cascade --wait capi
    for name in server client; do
        sudo ip netns pids $name | xargs -r sudo kill
        sudo ovs-vsctl --if-exists del-port br-int tap-$name
        sudo ip netns delete $name
        openstack port delete $name
    done
    openstack router remove subnet capi capi
    openstack router delete capi
    openstack subnet delete capi
    openstack network delete capi
    openstack volume delete capi
    exit "$code"
}

use_services() {
    set -e
    export OS_CLOUD=devstack-admin PATH=/opt/stack/data/venv/bin:$PATH
    trap remove_all EXIT
    openstack volume create -f value -c id --size 1 capi
    openstack network create -f value -c id capi
    openstack subnet create -f value -c id --network capi \
        --subnet-range 10.99.0.0/24 capi
    # The router answers for the address of a load balancer.
    openstack router create -f value -c id capi
    openstack router add subnet capi capi
    plug server 10
    plug client 11
    openstack loadbalancer create -f value -c id --wait --provider ovn \
        --name capi --vip-subnet-id capi --vip-address 10.99.0.12
    openstack loadbalancer listener create -f value -c id --wait \
        --name capi --protocol TCP --protocol-port 80 capi
    openstack loadbalancer pool create -f value -c id --wait --name capi \
        --listener capi --protocol TCP --lb-algorithm SOURCE_IP_PORT
    openstack loadbalancer member create -f value -c id --wait \
        --address 10.99.0.10 --protocol-port 8000 capi
    sudo ip netns exec server python3 -m http.server 8000 &
    sudo ip netns exec client curl -sS -o /dev/null --max-time 5 --retry 10 \
        --retry-all-errors -w 'The load balancer answers %{http_code}\n' \
        http://10.99.0.12/
    openstack volume show -f value -c status capi | grep -x available
}

# In this shell again, not in the container.

# With OCTAVIA_NODE=api there is no interface for amphorae, which aborts
# unstack.sh with Octavia's plugin in stable/2026.1; the one in master checks.
unstack() {
    inside '[ ! -e ~/octavia ] || git -C ~/octavia checkout -q origin/master \
        -- devstack/plugin.sh'
    devstack unstack.sh
}

stack() {
    inside "
        [ -e ~/devstack ] || git clone -q -b $branch \
            /opt/git/openstack/devstack.git ~/devstack
        [ ! -e ~/magnum-capi-tempest ] || {
            cd ~/magnum-capi-tempest && git fetch -q origin devstack \
                && git reset -q --hard FETCH_HEAD
        }
        cp ~/local.conf ~/devstack/local.conf"
    devstack stack.sh
}

clean() {
    unstack
    devstack clean.sh
    # shellcheck disable=SC2016  # expanded by the shell in the container
    inside 'left=$(ls -A /opt/stack/data/magnum-capi 2> /dev/null
            ps -e -o comm= | grep -xE "kube-.*|etcd|capi|capo|clusterctl")
        [ -z "$left" ] || { echo "Left behind:"; echo "$left"; exit 1; }'
}

code=0
# step NAME COMMAND...: run a step, unless an earlier one has failed. Never use
# it in a condition, where a failing command would not end it.
step() {
    local name=$1 log=$logs/$1.log result=passed
    local -i begin=$SECONDS
    shift
    [[ $code == 0 ]] || return 0
    say "$name: log in $log ..."
    "$@" > "$log" 2>&1 &
    wait $! || { result=FAILED; code=1; }
    say "$(printf '%-18s %s, %d s' "$name" "$result" $((SECONDS - begin)))"
    if [[ $code != 0 ]]; then
        # Without the output of devstack's exit trap.
        grep -av exit_trap "$log" | tail -n 20 >&2
    fi
}

prepare run
packages devstack
trap_finish
[[ ! $new && -e $folder/made ]] || make_root
configure
boot
say "The container is up, $(inside '. /etc/os-release; echo $PRETTY_NAME')"
for step in "${steps[@]}"; do
    case $step in
        stack)
            # After an interrupted run: its services start with the container,
            # and stack.sh would leave them as they are.
            if inside '[ -e ~/devstack/.stackenv ]'; then
                step earlier clean
            fi
            step stack stack ;;
        services) step services services ;;
        preflight | smoke) step "$step" tests "$step" ;;
        life) step life tests lifecycle ;;
        unstack) step unstack unstack ;;
        restack)
            step restack stack
            step restack-preflight tests preflight
            step restack-life tests lifecycle ;;
        clean) step clean clean ;;
    esac
done
if [[ $keep ]]; then
    say "The container is up until Ctrl-C. Enter it with:" \
        "nsenter -t $leader -m -u -i -n -p -C -r -w su - stack"
    wait "$container" || true
fi
exit "$code"
