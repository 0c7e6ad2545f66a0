# SPDX-License-Identifier: Apache-2.0
"""supervisord that has already imported the libraries of the cloud's services.

Programs of this folder, for this Python, are forked and continue here.
Otherwise each would import the same libraries, for a second or more of CPU
time, and keep a copy in memory. All other programs are executed as usual. In
either case the services are ordinary child processes of supervisord.

Runs in the cloud's own environment.

usage: supervisord.py -c FILE
"""

import contextlib
import gc
import importlib
import os
import pathlib
import runpy
import signal
import sys
import traceback
import warnings

from supervisor import options
from supervisor import supervisord

#: Libraries that at least three services import and that import much.
SHARED = (
    'alembic.migration', 'cryptography.fernet', 'cryptography.x509',
    'dogpile.cache', 'jsonschema.validators', 'keystoneauth1.identity',
    'keystoneauth1.loading', 'keystonemiddleware.auth_token', 'netaddr',
    'oslo_cache.core', 'oslo_concurrency.processutils', 'oslo_config.cfg',
    'oslo_context.context', 'oslo_db.api', 'oslo_db.sqlalchemy.enginefacade',
    'oslo_log.log', 'oslo_messaging', 'oslo_middleware', 'oslo_policy.policy',
    'oslo_serialization.jsonutils', 'oslo_upgradecheck.upgradecheck',
    'oslo_utils.strutils', 'oslo_utils.timeutils',
    'oslo_versionedobjects.base', 'osprofiler.web', 'paste.deploy',
    'paste.urlmap', 'requests', 'routes.middleware',
    'sqlalchemy.dialects.sqlite', 'sqlalchemy.ext.hybrid', 'sqlalchemy.orm',
    'stevedore', 'tenacity', 'waitress', 'webob.dec', 'webob.exc', 'yaml')


class _WithoutEventlet:
    """Refuses to import eventlet, as Nova does before it uses threads."""

    @staticmethod
    def find_spec(name, _path, _target=None):
        if name.partition('.')[0] == 'eventlet':
            raise ImportError('The services of this cloud use threads')


@contextlib.contextmanager
def without_eventlet():
    """Make libraries do without eventlet.

    Nova refuses to start where it has been imported, and oslo.service uses it
    by default.
    """
    sys.meta_path.insert(0, _WithoutEventlet)
    try:
        from oslo_service import backend
        backend.init_backend(backend.BackendType.THREADING)
        yield
    finally:
        sys.meta_path.remove(_WithoutEventlet)


def import_shared():
    """Import what services share; imports that fail here are skipped."""
    with without_eventlet(), warnings.catch_warnings(action='ignore'):
        for name in SHARED:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    # A collection would write to every object and so copy its memory page.
    gc.collect()
    gc.freeze()


def is_own(filename, argv):
    """Whether a command is a program of this folder, for this Python."""
    return filename == sys.executable and len(argv) > 1 and (
        pathlib.Path(argv[1]).parent == pathlib.Path(__file__).parent)


def become(argv, env):
    """Run a program in this process, as if it had been executed.

    :param argv: its path and its arguments.
    :param env: all of its environment.
    """
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = list(argv)
    # The command line stays that of supervisord: overwriting its memory would
    # destroy the environment by which a sandbox recognizes its processes.
    pathlib.Path('/proc/self/comm').write_text(
        env['SUPERVISOR_PROCESS_NAME'])
    if env.get('PYTHONWARNINGS'):
        warnings.simplefilter(env['PYTHONWARNINGS'])
    code = 1
    try:
        runpy.run_path(argv[0], run_name='__main__')
        code = 0
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
        if code and not isinstance(e.code, int):
            print(e.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        # If it returned, supervisord's own code would report a failure.
        os._exit(code)


class Options(options.ServerOptions):

    def daemonize(self):
        super().daemonize()
        import_shared()

    def execve(self, filename, argv, env):
        if not is_own(filename, argv):
            super().execve(filename, argv, env)
        become(argv[1:], env)


if __name__ == '__main__':
    supervisord.ServerOptions = Options
    supervisord.main()
