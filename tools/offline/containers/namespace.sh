#!/bin/sh
# SPDX-License-Identifier: Apache-2.0

# Runs a program as the child of process 1 in new namespaces, in a network
# that only the host can reach.
#
#   namespace.sh outside LINK HOST OTHER NETWORK COMMAND...
#
# LINK is the host's new interface, HOST its address and OTHER the address of
# its peer, both with prefix; NETWORK is what the host can reach there.
#
# No route leads out of the namespace, and there is no address translation:
# programs inside reach each other and the host's end of the pair. All of this
# disappears with the last process inside; when unshare is killed, process 1
# dies with it, and then all others.

set -eu

on_host() {
    nsenter --net=/proc/self/fd/9 -- "$@"
}

make_pair() {
    on_host ip link add "$1" type veth peer name outside netns $$
    on_host sh -c "echo 1 > /proc/sys/net/ipv6/conf/$1/disable_ipv6" || true
    on_host ip address add "$2" dev "$1"
    on_host ip link set "$1" up
    ip link set lo up
    ip address add "$3" dev outside
    ip link set outside up
    on_host ip route add "$4" via "${3%/*}" dev "$1"
}

# containerd makes /opt/containerd: let it do so in a file system of ours that
# shows the host's other files there.
keep_opt_clean() {
    if [ ! -d /opt ] || [ -e /opt/containerd ]; then
        return
    fi
    mkdir /run/opt
    mount --rbind /opt /run/opt
    mount -t tmpfs -o mode=755 magnum-capi /opt
    for path in /run/opt/*; do
        name=/opt/${path##*/}
        if [ -d "$path" ]; then
            mkdir "$name"
        elif [ -f "$path" ]; then
            : > "$name"
        else
            continue
        fi
        mount --rbind "$path" "$name"
    done
}

case $1 in
    outside)
        shift
        # Gives process 1 access to the host's network.
        exec 9< /proc/self/ns/net
        exec unshare --net --mount --propagation private --ipc --pid --fork \
            --kill-child=SIGKILL --mount-proc sh "$0" inside "$@"
        ;;
    inside)
        # Sockets, pid files and state of dockerd, containerd and runc
        # disappear with us, and the host's are hidden.
        mount -t tmpfs -o mode=755 magnum-capi /run
        mkdir -m 700 /run/lock
        # An old dockerd writes a key here.
        if [ -d /etc/docker ]; then
            mount -t tmpfs -o mode=700 magnum-capi /etc/docker
        fi
        keep_opt_clean
        make_pair "$2" "$3" "$4" "$5"
        shift 5
        exec 9<&-
        echo 1 > /proc/sys/net/ipv4/ip_forward
        # Filters must not affect traffic of nodes over a bridge.
        for file in /proc/sys/net/bridge/bridge-nf-call-*tables; do
            if [ -w "$file" ]; then
                echo 0 > "$file"
            fi
        done
        exec "$@"
        ;;
esac
