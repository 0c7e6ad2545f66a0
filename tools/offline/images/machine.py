# SPDX-License-Identifier: Apache-2.0

"""Common parts of machines in containers: nodes and minikube's machine.

Both are Debian with systemd and containerd, and have images of pods baked in:
these are in containerd's store, so that nothing has to be loaded when the
machine starts. Their blobs lie outside of ``/var``, which is a volume: a
machine gets links to them instead of a copy of a gigabyte.
"""

import pathlib
import stat

from magnum_capi import processes
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import pins
from tools.offline.images import archive
from tools.offline.images import layer
from tools.offline.images import recipes

#: Placeholder for the pods' sandbox image in "definitions/<name>/files".
SANDBOX = b'@SANDBOX_IMAGE@'

#: Debian's units that do not work, or are not wanted, in a container.
MASKED = (
    'apt-daily-upgrade.timer', 'apt-daily.timer',
    # It hangs up the console, which may lose the line by which Cluster API
    # recognizes that the machine has booted.
    'console-getty.service', 'dev-hugepages.mount',
    'e2scrub_all.timer', 'e2scrub_reap.service', 'getty@tty1.service',
    'haproxy.service', 'sys-fs-fuse-connections.mount',
    'sys-kernel-config.mount', 'sys-kernel-debug.mount',
    'sys-kernel-tracing.mount', 'systemd-logind.service',
    'systemd-networkd.service', 'systemd-resolved.service',
    # It would change the host's kernel.
    'systemd-sysctl.service',
    'systemd-timesyncd.service', 'systemd-udev-trigger.service',
    'systemd-udevd.service')

_ENTRYPOINT = ['/usr/local/bin/entrypoint', '/sbin/init']

#: The signal for an orderly shutdown, see systemd(1).
_STOP_SIGNAL = 'SIGRTMIN+3'

_UNITS = '/etc/systemd/system'

#: containerd's state, and its blobs.
_STATE = 'var/lib/containerd'
_BLOBS = f'{_STATE}/io.containerd.content.v1.content/blobs/sha256'
_OUTSIDE = 'kind/blobs/sha256'

#: Seconds to import all images.
_TIMEOUT = 1800

# $1: root file system; the others are archives. Everything that is mounted
# and runs here ends with this script.
_BAKE = r'''
set -eu
root=$1
shift
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
cat > "$root/run/config.toml" << END
version = 2
disabled_plugins = ["io.containerd.grpc.v1.cri"]
END
chroot "$root" containerd --config /run/config.toml --log-level warn &
tries=0
until chroot "$root" ctr version > /dev/null 2>&1; do
    tries=$((tries + 1))
    test $tries -lt 100
    sleep 0.1
done
for archive in "$@"; do
    chroot "$root" ctr --namespace k8s.io images import --no-unpack - \
        < "$archive" > /dev/null
done
kill $!
wait $! || true
'''


def make(order, archives, entries, config, out, progress) -> None:
    """Write the archive of a machine's image.

    :param order: see :mod:`.build`.
    :param archives: of the images to bake in, objects with ``path``.
    :param entries: function of a recipe, its programs and the tar file of
        Debian: the other files.
    :param config: function of a recipe and its layers, :func:`config`.
    """
    base = order.layers('machine')
    upper = order.work / 'upper.tar'
    layer.write(upper, entries(order.recipe, order.programs, base))
    images = order.work / 'images.tar'
    layer.write(images, bake(base, archives, order.work, progress))
    layers = [archive.layer(f) for f in (base, upper, images)]
    archive.write(out, config(order.recipe, layers), layers,
                  order.recipe.references)


def config(recipe, layers) -> dict:
    """The image's configuration; pure."""
    found = archive.config(recipe, layers, pins.architecture())
    found['config'].update(Entrypoint=_ENTRYPOINT, StopSignal=_STOP_SIGNAL)
    # Tells systemd that it is in a container.
    found['config']['Env'].append('container=docker')
    return found


def files(name, replace=None) -> list[layer.Entry]:
    """Entries of a tree of this project, ``definitions/<name>/files``.

    :param replace: bytes -> bytes, in all of them.
    """
    top = recipes.FOLDER / name / 'files'
    found = []
    for file in sorted(top.rglob('*')):
        if file.is_file():
            content = file.read_bytes()
            for old, new in (replace or {}).items():
                content = content.replace(old, new)
            # git only stores the executable bit.
            mode = 0o755 if file.stat().st_mode & stat.S_IXUSR else 0o644
            found.append(layer.Entry(
                str(file.relative_to(top)), content, mode))
    return found


def units(enabled=()) -> list[layer.Entry]:
    """Links that mask units unfit for containers, and enable others.

    :param enabled: unit name -> its file, for the target "multi-user".
    """
    return [layer.Entry(f'{_UNITS}/{name}', link='/dev/null')
            for name in MASKED] + [
        layer.Entry(f'{_UNITS}/multi-user.target.wants/{name}', link=file)
        for name, file in dict(enabled).items()]


def os_release(base, what, identity=None) -> layer.Entry:
    """Debian's ``os-release``, marked as ours.

    The kubelet reports its PRETTY_NAME, which shows in the report of a
    conformance run that the image is not upstream's.

    :param base: tar file of the layer that has it.
    :param what: "node image".
    :param identity: another ID.
    """
    path = '/usr/lib/os-release'
    return layer.Entry(path, release(
        layer.read(base, [path])[path].decode(), what, identity).encode(),
        0o644)


def release(text, what, identity=None) -> str:
    """The text of such an ``os-release``; pure."""
    lines = []
    for line in text.splitlines():
        key, _, value = line.partition('=')
        if key == 'PRETTY_NAME':
            name = value.strip('"')
            value = f'"{name}, stand-in {what} of magnum-capi"'
        elif key == 'ID' and identity:
            value = identity
        lines.append(f'{key}={value}')
    return '\n'.join(lines) + '\n'


def bake(base, archives, work, progress) -> list[layer.Entry]:
    """Entries of images in containerd's store.

    The machine's own containerd imports them, in separate namespaces; needs
    root.

    :param base: tar file of the machine's layer.
    :param archives: objects with ``path``.
    :param work: empty folder; the entries refer to files in it.
    """
    root = work / 'root'
    root.mkdir()
    processes.run(['tar', '--extract', '--numeric-owner', '--file', base,
                   '--directory', root], timeout=300,
                  env=leftovers.marked(work))
    with progress.step(f'baking {len(archives)} images in'):
        processes.run(
            ['unshare', '--mount', '--propagation', 'private', '--net',
             '--pid', '--fork', '--kill-child=SIGKILL', 'sh', '-c', _BAKE,
             'sh', root, *(a.path for a in archives)], timeout=_TIMEOUT,
            env=leftovers.marked(work))
    return baked(root)


def baked(root: pathlib.Path) -> list[layer.Entry]:
    """Entries for a root file system's containerd, blobs outside of /var."""
    entries = [layer.Entry(_STATE, mode=0o711)]
    for file in sorted((root / _STATE).rglob('*')):
        path = str(file.relative_to(root))
        if not file.is_file():
            continue
        if path.startswith(f'{_BLOBS}/'):
            outside = f'{_OUTSIDE}/{file.name}'
            entries += [layer.Entry(outside, file, 0o444),
                        layer.Entry(path, link=f'/{outside}')]
        else:
            entries.append(layer.Entry(path, file, 0o600))
    return entries


def own(recipe, programs) -> list[layer.Entry]:
    """Entries for a recipe's own programs, texts and links.

    :param programs: path in the image -> the built program.
    """
    return [*(layer.Entry(path, file) for path, file in programs.items()),
            *(layer.Entry(path, text.encode(), 0o644)
              for path, text in recipe.texts.items()),
            *(layer.Entry(path, link=target)
              for path, target in recipe.links.items())]


def sandbox_image(recipe) -> bytes:
    """The pods' sandbox image that a recipe names."""
    return recipe.texts['/kind/sandbox-image'].strip().encode()
