# SPDX-License-Identifier: Apache-2.0
"""Magnum's API of a sandbox in the servers that deployments use.

Each is a process with the sandbox's database and configuration, on a port of
its address next to the sandbox's own API.
"""

import os
import pathlib
import subprocess
import sys

import fixtures

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import services

MOD_WSGI = pathlib.Path('/usr/lib/apache2/modules/mod_wsgi.so')
_APACHE = pathlib.Path('/usr/sbin/apache2')

#: The application as a server loads it.
_SCRIPT = '''
import sys
sys.argv = ['magnum-api', *{config!r}]
# SQLite has two writers now.
sys.path.insert(0, {programs!r})
import sqlite
sqlite.immediate_transactions()
from magnum.wsgi.api import application
'''

_HTTPD = '''
ServerName magnum
ServerRoot {folder}
PidFile {folder}/pid
DefaultRuntimeDir {folder}
ErrorLog {folder}/log
Listen {address}:{port}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule wsgi_module {modules}/mod_wsgi.so
AllowEncodedSlashes On
WSGISocketPrefix {folder}/wsgi
WSGIDaemonProcess magnum processes=1 threads=4 home={folder} \
    python-home={home}
WSGIProcessGroup magnum
WSGIApplicationGroup %{{GLOBAL}}
WSGIPassAuthorization On
WSGIScriptAlias / {script}
<Location />
    Require all granted
</Location>
'''


def mod_wsgi_missing():
    """Why Apache cannot be started, None if it can."""
    if not (MOD_WSGI.exists() and _APACHE.exists()):
        return ('bindep profile "apache" is not installed: '
                f'{MOD_WSGI} is missing')
    # It is linked with the distribution's Python, which may lack symbols for
    # modules of another build of the same version.
    found = os.readlink(MOD_WSGI).rpartition('-')[2] \
        if MOD_WSGI.is_symlink() else ''
    mine = f'{sys.version_info.major}.{sys.version_info.minor}'
    if (sys.base_prefix, mine) != ('/usr', found):
        return (f"{MOD_WSGI} is for the distribution's Python {found}, this "
                f'is Python {mine} in {sys.base_prefix}')
    return None


class Server(fixtures.Fixture):
    """One of these servers; it answers after setUp().

    :param layout: of the sandbox.
    :param port: to listen on.
    :param filtered: whether the discovery filter is in front.
    """

    def __init__(self, layout, port, filtered):
        super().__init__()
        self.layout = layout
        self.port = port
        self._filtered = filtered

    def _setUp(self):
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        file, more = map(str, self.layout.magnum_conf)
        config = ['--config-file', file, '--config-dir', more]
        if not self._filtered:
            unfiltered = self.folder / 'unfiltered.conf'
            unfiltered.write_text(
                '[api]\napi_paste_config = '
                f'{self._cloud / "etc/magnum/api-paste.ini"}\n')
            config += ['--config-file', str(unfiltered)]
        self.script = self.folder / 'magnum.wsgi'
        self.script.write_text(_SCRIPT.format(
            config=config, programs=str(services.PROGRAMS)))
        log = self.folder / 'out'
        with open(log, 'wb') as out:
            process = subprocess.Popen(
                [*map(str, self.command())], stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, cwd=self.folder,
                env=services.environment(self.layout, self.layout.magnum_env))
        self.addCleanup(process.wait, 60)
        self.addCleanup(process.terminate)
        answers = services.answers(self.layout.address, self.port)

        def seen():
            if process.poll() is not None:
                raise AssertionError(self.said())
            try:
                return answers()
            except OSError:
                return False
        try:
            waiting.wait_for(seen, done=bool, timeout=120, what='an answer')
        except errors.WaitTimeout as e:
            raise AssertionError(self.said()) from e

    @property
    def _cloud(self):
        """The cloud's environment, which the sandbox's own extends."""
        return (self.layout.magnum_env / 'bin/python').readlink().parents[1]

    def said(self):
        return ''.join(path.read_text(errors='replace')
                       for path in (self.folder / 'out', self.folder / 'log')
                       if path.exists())

    def command(self):
        raise NotImplementedError


class Uwsgi(Server):

    def command(self):
        return (self.layout.magnum_env / 'bin/python',
                self._cloud / 'bin/uwsgi', '--need-app', '--die-on-term',
                '--enable-threads', '--threads', '4', '--master',
                '--lazy-apps',
                '--http-socket', f'{self.layout.address}:{self.port}',
                '--wsgi-file', self.script)


class ModWsgi(Server):

    def command(self):
        conf = self.folder / 'httpd.conf'
        conf.write_text(_HTTPD.format(
            folder=self.folder, address=self.layout.address, port=self.port,
            modules=MOD_WSGI.parent, script=self.script,
            home=self.layout.magnum_env))
        # mod_wsgi does not run applications as root, but other users may not
        # read a sandbox: so here root has the name "nobody".
        other = ('unshare', '--user', '--map-user=nobody',
                 '--map-group=nogroup') if os.geteuid() == 0 else ()
        return (*other, _APACHE, '-DFOREGROUND', '-f', conf)
