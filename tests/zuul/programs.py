# SPDX-License-Identifier: Apache-2.0

"""The programs of this Zuul: what runs, after what, and when it is ready."""

import os
import pathlib
import pwd
import shutil
import urllib.request

from magnum_capi import errors
from magnum_capi_tempest import paths
from magnum_capi_tempest import supervision
from tests.zuul import site as sites

ZOOKEEPER_JAR = pathlib.Path('/usr/share/java/zookeeper.jar')

#: That of Debian forgets what TLS needs.
_CLASSES = ':'.join(str(ZOOKEEPER_JAR.with_name(f'{name}.jar')) for name in (
    'zookeeper', 'netty-codec', 'netty-resolver', 'slf4j-simple'))

#: Variables of the node by their beginnings and ends: what a machine needs to
#: reach package registries, as tox.ini has them.
_PREFIXES = ('GO', 'PIP_', 'SSL_CERT_', 'UV_')
_SUFFIXES = ('_proxy', '_PROXY', '_CA_BUNDLE')


def environment() -> dict[str, str]:
    """Variables of the node.

    Its home is not that of ``HOME``, so the caches are named.
    """
    return {'PATH': os.environ['PATH'], 'LANG': 'C.UTF-8', **{
        name: value for name, value in os.environ.items()
        if name.startswith(_PREFIXES) or name.endswith(_SUFFIXES)},
        'MAGNUM_CAPI_CACHE': str(paths.cache()),
        'XDG_CACHE_HOME': str(_caches())}


def _caches():
    """Folder of all caches of the user, such as those of pip and Go."""
    return pathlib.Path(os.environ.get('XDG_CACHE_HOME')
                        or pathlib.Path.home() / '.cache')


def check():
    """Look for what is no Python package.

    :raises EnvironmentProblem: naming what is missing.
    """
    for name in ('bwrap', 'git', 'java', 'rsync', 'ssh-keygen', 'sshd'):
        _program(name)
    if not ZOOKEEPER_JAR.exists():
        raise errors.EnvironmentProblem(
            'ZooKeeper is missing', where=ZOOKEEPER_JAR,
            hint='apt-get install zookeeper')


def _program(name):
    found = shutil.which(name, path=f'{os.environ["PATH"]}:/usr/sbin:/sbin')
    if not found:
        raise errors.EnvironmentProblem(
            f'{name} is missing', where='PATH, /usr/sbin, /sbin',
            hint='tools/run_zuul.sh installs what bindep.txt has for the '
                 'profile "zuul"')
    return found


def programs(site, database) -> list[supervision.Program]:
    """Everything that runs, in no order.

    :param site: site.Site.
    :param database: backends.MariaDB's program.
    """
    def zuul(name, *before, **more):
        return supervision.Program(
            f'zuul-{name}', (*(before or (site.zuul / 'bin' / f'zuul-{name}',
                                          )), '-c', site.conf, '-f', '-d'),
            after=('zookeeper', 'mariadb'), env=env, **more)

    # They leave sockets there, also when they end as they should.
    env = {'PATH': f'{site.zuul}/bin:{os.environ["PATH"]}',
           'TMPDIR': str(site.temporary)}
    return [
        database,
        supervision.Program(
            'zookeeper',
            (_program('java'), '-Xmx512m',
             '-Djava.net.preferIPv4Stack=true', '-cp', _CLASSES,
             '-Dzookeeper.jmx.log4j.disable=true',
             'org.apache.zookeeper.server.quorum.QuorumPeerMain',
             site.directory / 'etc/zoo.cfg'),
            listens=((site.address, sites.ZOOKEEPER),)),
        supervision.Program(
            'node', _node(site), listens=((site.address, sites.SSH),)),
        zuul('scheduler'), zuul('merger'), zuul('launcher'),
        # Its own would listen on every address.
        zuul('executor', site.zuul / 'bin/python', '-P',
             pathlib.Path(__file__).with_name('executor.py'), site.address),
        zuul('web', listens=((site.address, sites.WEB),),
             ready=lambda: _answers(f'{site.url}/api/tenants'))]


def _node(site):
    """An SSH server that sees the machine, and can change none of it.

    A home and a /tmp of its own; the user's cache is the only thing that it
    shares. Whatever runs in there ends with it, for it is process 1's.
    """
    # SSH takes the home from there, whatever HOME says.
    home = pwd.getpwuid(os.getuid()).pw_dir
    caches = tuple(dict.fromkeys((_caches(), paths.cache())))
    shared = [word for folder in caches
              for word in ('--bind', folder, folder)]
    for folder in caches:
        folder.mkdir(parents=True, exist_ok=True)
    return (_program('bwrap'), '--die-with-parent', '--unshare-pid',
            '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc',
            '--bind', site.node / 'tmp', '/tmp',
            '--bind', site.node / 'home', home, *shared,
            '--tmpfs', '/run', '--dir', '/run/sshd',
            # Where /etc/resolv.conf is a link to.
            '--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve',
            '--chdir', '/', _program('sshd'), '-D', '-e', '-f',
            '/tmp/sshd/config')


def _answers(url):
    with urllib.request.urlopen(url, timeout=5) as response:
        return response.status == 200
