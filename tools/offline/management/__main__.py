# SPDX-License-Identifier: Apache-2.0

"""Prepares a management cluster in minikube, on machines without releases.

``minikube.sh`` runs it in an environment of its own.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import sys

from magnum_capi.cli import endings
from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi_tempest import dockers
from magnum_capi_tempest.management import installation
from magnum_capi_tempest.management import providers
from magnum_capi_tempest import paths
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import pins as architectures
from tools.offline import containers
from tools.offline.containers import engine
from tools.offline.images import build
from tools.offline.images import loading
from tools.offline.images import plan
from tools.offline.images import recipes
from tools.offline.management import repository
from tools.offline import pins

_MINOR = re.match(r'v(\d+\.\d+)', providers.KUBERNETES).group(1)

#: Kubernetes' programs, which minikube would download.
_PROGRAMS = {name: f'{name}-{_MINOR}'
             for name in ('kubeadm', 'kubectl', 'kubelet')}


def main(argv=None) -> int:
    """Run the command; returns its exit code."""
    args = _parser().parse_args(argv)
    return endings.program(lambda: _prepare(args, progress_.Progress()))


def _parser():
    parser = argparse.ArgumentParser(
        prog='tools/offline/minikube.sh', description='Make everything that '
        '"magnum-capi management up --backend minikube" would download, and '
        'load the image of the machine into Docker. Prints environment '
        'variables, to use with "eval".')
    parser.add_argument(
        '--images', type=pathlib.Path, metavar='DIR',
        help='folder of the image archives, see images.sh')
    parser.add_argument(
        '--engine', type=pathlib.Path, metavar='DIR',
        help='folder of the engine, see docker.sh')
    return parser


def _prepare(args, progress):
    docker = dockers.find()
    tools = toolchain.ensure(
        ['helm', 'kubectl', 'minikube', *_PROGRAMS.values()], progress,
        pins.load())
    folder = paths.cache() / 'offline'
    folder.mkdir(parents=True, exist_ok=True)
    check(repository.make(folder, tools))
    base = build.build(args.images, ['kicbase'], [_MINOR], progress
                       )[f'kicbase-{_MINOR}']
    loading.load([base], docker, progress)
    _seed(folder / '.minikube', tools)
    running = containers.Engine(
        args.engine or engine.default_directory()).access()
    if running and running.docker_host != docker.host:
        running = None
    program = folder / 'bin' / 'minikube'
    program.parent.mkdir(exist_ok=True)
    program.write_text(wrapper(
        tools['minikube'], folder, base.references[0], running))
    program.chmod(0o755)
    for name, value in ((installation.OFFLINE, str(folder)), (
            'PATH', f'{program.parent}:{os.environ["PATH"]}')):
        print(f'export {name}={shlex.quote(value)}')
    return 0


def wrapper(program, home, base, running) -> str:
    """The text of a program "minikube" that asks nothing from outside; pure.

    :param program: path of the real one.
    :param home: its MINIKUBE_HOME.
    :param base: reference of the machine's image.
    :param running: :class:`.containers.Access` of the engine, if Docker is
        our own: published ports are in its network, and the host has a route
        only to its subnets.
    """
    flags = [f'--base-image={base}', '--preload=false', '--cache-images=false']
    command = [str(program)]
    if running:
        flags.append(f'--subnet={running.minikube_subnet}')
        command = running.run_in(command)
    return '\n'.join([
        '#!/bin/sh',
        f'export MINIKUBE_HOME="${{MINIKUBE_HOME:-{home}}}"',
        f'[ "$1" != start ] || set -- "$@" {shlex.join(flags)}',
        f'exec {shlex.join(command)} "$@"', ''])


def check(references):
    """Make sure that the machine has all images of pods.

    :raises EnvironmentProblem: it lacks some.
    """
    known = recipes.load()
    there = {r for baked in plan.baked(known[f'kicbase-{_MINOR}'], known)
             for r in baked.references}
    if not there.issuperset(references):
        raise errors.EnvironmentProblem(
            "There are no recipes for images of the providers' manifests",
            where=', '.join(sorted(set(references) - there)))


def _seed(home, tools):
    """Give minikube Kubernetes' programs."""
    folder = (home / 'cache' / 'linux' / architectures.architecture()
              / providers.KUBERNETES)
    folder.mkdir(parents=True, exist_ok=True)
    for name, tool in _PROGRAMS.items():
        shutil.copy(tools[tool], folder / name)


if __name__ == '__main__':
    sys.exit(main())
