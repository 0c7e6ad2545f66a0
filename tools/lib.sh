#!/bin/bash
# SPDX-License-Identifier: Apache-2.0

# Functions shared by the other scripts; sourced, never run.
#
# prepare PURPOSE makes a virtual environment below the cache folder and puts
# it first on PATH. A stamp, written last, marks it as complete; one without a
# stamp is made again. Its name has a hash of everything that determines its
# content, so it never has to be updated.

CACHE=${MAGNUM_CAPI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/magnum-capi}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1
# Programs of this project must find this checkout, not another one.
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV

say() {
    printf '[%5ss] %s\n' "$SECONDS" "$*" >&2
}

# die WHAT WHERE HINT: exit with a line in the format of
# magnum-capi/magnum_capi/errors.py.
die() {
    echo "${0##*/}: $1 ($2). $3" >&2
    exit "${DIE_CODE:-3}"
}

# one_of WHAT WORD KNOWN...: exit with a usage error unless WORD is KNOWN.
one_of() {
    local what=$1 word=$2 one
    shift 2
    for one; do
        [[ $one != "$word" ]] || return 0
    done
    DIE_CODE=2 die "Unknown $what" "$word" "Use one of: $*"
}

# need_value OPTION [VALUE]...: exit with a usage error without a VALUE.
need_value() {
    [[ -n ${2-} ]] || DIE_CODE=2 die 'A value is missing' "$1" 'See --help'
}

# unknown WORD: exit with a usage error.
unknown() {
    DIE_CODE=2 die 'Unknown argument' "$1" 'See --help'
}

# quietly WHAT COMMAND...: print a line when done, the output on failure.
quietly() {
    local what=$1 log
    local -i begin=$SECONDS
    shift
    log=$(mktemp)
    say "$what ..."
    if "$@" > "$log" 2>&1 9>&-; then
        say "$what: $((SECONDS - begin)) s"
        rm -f "$log"
        return 0
    fi
    tail -n 25 "$log" >&2
    rm -f "$log"
    say "$what FAILED after $((SECONDS - begin)) s"
    return 1
}

# trap_finish: call finish, a function of the script, when the script ends, by
# a signal as well.
trap_finish() {
    trap 'stopped 130' INT
    trap 'stopped 143' TERM
    trap 'stopped 129' HUP
    trap 'stopped 141' PIPE
    trap finish EXIT
}

# stopped CODE: exit because of a signal; the command that ran has ended.
stopped() {
    [[ $? == 0 || ${started-} != perhaps ]] || started=
    exit "$1"
}

# start COMMAND...: run a "sandbox up". "started" tells finish whether to take
# the sandbox down: not if this has failed, by Ctrl-C or otherwise. It has
# cleaned up then, unless there is a sandbox of somebody else, which stays.
start() {
    local code
    started=perhaps
    "$@" || { code=$?; started=; exit "$code"; }
    started=yes
}

find_python() {
    local name
    for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
                2> /dev/null; then
            # Resolved, as a version manager's link depends on the folder.
            "$name" -c 'import os, sys; print(os.path.abspath(sys.executable))'
            return
        fi
    done
    die "No Python 3.11 or newer" "PATH=$PATH" \
        'Install one, or name it: PYTHON=/path/to/python3'
}

# apt_install PACKAGE...: install packages, as root or through sudo.
apt_install() {
    local -a root=()
    if ! command -v apt-get > /dev/null; then
        die "Missing packages: $*" 'there is no apt-get here' \
            'Install them with the package manager of this system'
    fi
    if ((EUID != 0)); then
        if ! command -v sudo > /dev/null; then
            die "Missing packages: $*" 'not root, and there is no sudo' \
                "Let root run: apt-get install $*"
        fi
        if ! sudo -n true 2> /dev/null && ! { [[ -t 0 ]] && sudo -v; }; then
            die "Missing packages: $*" 'sudo wants a password' \
                "Run: sudo apt-get install $*"
        fi
        root=(sudo)
    fi
    root+=(env DEBIAN_FRONTEND=noninteractive)
    local -a apt=(apt-get -q -y -o DPkg::Lock::Timeout=300)
    # A partly unreachable index may still have the package.
    quietly 'Update the package index' "${root[@]}" "${apt[@]}" update || true
    # Debian starts servers on installation. We only use private ones; these
    # would listen on all addresses. See policy-rc.d(8). Docker's own packages,
    # docker-ce and containerd.io, conflict with those of Debian.
    quietly "Install $*" "${root[@]}" sh -c "$WITHOUT_STARTS" sh \
        /usr/sbin/policy-rc.d "${apt[@]}" install --no-install-recommends \
        --no-remove "$@" \
        || die "Could not install $*" "apt-get, see above" \
            'Repair apt, remove what conflicts, or install them yourself'
}

# Runs a command and keeps Debian from starting servers meanwhile: sh -c
# "$WITHOUT_STARTS" sh FILE COMMAND..., where FILE is that of policy-rc.d(8).
# The file forbids starts as long as the command or its parent holds a lock on
# it: a leftover of a killed run forbids nothing and removes itself. Files of
# other programs are left alone.
# shellcheck disable=SC2016  # This is a program for another shell.
WITHOUT_STARTS='
policy=$1 mark="Of magnum-capi: forbids starts while it is locked."
shift
if [ -e "$policy" ] && ! grep -qF "$mark" "$policy"; then
    exec "$@"
fi
rm -f "$policy"
trap "rm -f $policy" EXIT
trap "exit 143" HUP INT TERM
cat > "$policy" << END
#!/bin/sh
# $mark
flock -n "\$0" true || exit 101
rm -f "\$0"
END
chmod 755 "$policy"
# Not for writing: nobody could run it then.
exec 8< "$policy"
flock -n 8
"$@"'

# packages PROFILE...: the distribution packages of bindep.txt.
packages() {
    local -a missing
    local list code=0
    # 0: nothing is missing; 1: prints the missing packages, one per line.
    list=$(bindep -b -f "$TOP/bindep.txt" "$@" 2> /dev/null) || code=$?
    [[ $code -ne 0 ]] || return 0
    mapfile -t missing <<< "$list"
    if [[ $code -ne 1 || ! ${missing[*]} =~ ^[a-z0-9][a-z0-9.+\ -]*$ ]]; then
        die "bindep failed with exit code $code" "$TOP/bindep.txt" \
            'Install the packages in that file yourself'
    fi
    apt_install "${missing[@]}"
}

# prepare run|test: make the virtual environment and put it first on PATH.
prepare() {
    local purpose=$1 python version key venv
    # "docker" is for tools/offline.
    local -a what=(docker -e "$TOP/magnum-capi" -e "$TOP/sandbox"
        -e "$TOP[conformance,tempest,evidence,management,thirdparty]")
    python=$(find_python) || exit
    # stestr would start its workers with it, outside of this environment.
    unset PYTHON
    version=$("$python" -c 'import platform; print(platform.python_version())')
    key=$(cd "$TOP" && { echo "$TOP $purpose $python $version"
        cat setup.cfg setup.py pyproject.toml requirements.txt \
            magnum-capi/pyproject.toml sandbox/pyproject.toml \
            test-requirements.txt doc/requirements.txt \
            sandbox/constraints/tools.txt tools/lib.sh 2> /dev/null
    } | sha256sum | cut -c 1-12) || exit
    venv=$CACHE/venv-$purpose-$version-$key
    mkdir -p "$CACHE" 2> /dev/null && [[ -w $CACHE ]] \
        || die 'Cannot write to the cache folder' "$CACHE" \
            'Make it writable, or set MAGNUM_CAPI_CACHE to another one'
    if [[ $purpose == test ]]; then
        what+=(-r "$TOP/test-requirements.txt" -r "$TOP/doc/requirements.txt")
    fi

    # Of two parallel runs, the second waits and finds the work done.
    exec 9> "$venv.lock"
    if ! flock -n 9; then
        say "Waiting for another process that makes $venv"
        flock -w 1800 9 || die 'Gave up after 30 minutes' "$venv.lock" \
            'Check for another run of this script that hangs'
    fi
    if [[ ! -e $venv/stamp ]] || ! "$venv/bin/python" -c 'import cliff, uv' \
            2> /dev/null 9>&-; then
        make_venv "$python" "$version" "$venv"
    fi
    exec 9>&-
    export VIRTUAL_ENV=$venv PATH=$venv/bin:$PATH
    hash -r
}

make_venv() {
    local python=$1 version=$2 venv=$3
    local constraints=$TOP/sandbox/constraints/tools.txt
    local -a unversioned=()
    local hint='Is a package index reachable? Behind a proxy set https_proxy'
    if ! "$python" -c 'import ensurepip, venv' 2> /dev/null; then
        apt_install "python${version%.*}-venv"
        "$python" -c 'import ensurepip, venv' 2> /dev/null \
            || die 'Python has no venv module' "$python" \
                'Install it, or name another: PYTHON=/path/to/python3'
    fi
    rm -rf "$venv"
    quietly 'Make a virtual environment' "$python" -m venv "$venv" \
        || die 'Cannot make a virtual environment' "$venv" \
            'Is there enough disk space?'
    quietly 'Install uv and bindep' "$venv/bin/python" -m pip install -q \
        -c "$constraints" uv bindep \
        || die 'pip failed, see above' "$venv" "$hint"
    # pbr asks git for the version. Archives have no history; GitHub runs
    # actions from one.
    git -C "$TOP" rev-parse HEAD > /dev/null 2>&1 \
        || unversioned=(PBR_VERSION=0.0.0)
    # uv leaves lock files in the folder of temporary files.
    quietly 'Install the Python packages' env VIRTUAL_ENV="$venv" \
        TMPDIR="$venv" "${unversioned[@]}" \
        "$venv/bin/uv" pip install --no-progress -c "$constraints" \
        --build-constraint "$constraints" "${what[@]}" \
        || die 'uv failed, see above' "$venv" "$hint"
    touch "$venv/stamp"
}
