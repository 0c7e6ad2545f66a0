# SPDX-License-Identifier: Apache-2.0

"""What happens in a process of its own: import a mutant, run tests.

What it finds it writes down line by line, for it may never come to an end.
"""

import importlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import resource
import signal
import sys
import tempfile
import time
import unittest

from magnum_capi_tempest import runmarks

#: Its files: a line ``SIGN SECONDS ID`` when a test begins and when it ends,
#: and what tests print.
RESULTS, LOG = 'results', 'log'

#: Signs in RESULTS.
BEGUN, PASSED, FAILED, SKIPPED = '?+-s'

#: Seconds for imports.
IMPORTS = 90

#: Bytes of memory and of a file that a process may have.
_LIMITS = {resource.RLIMIT_AS: 8 << 30, resource.RLIMIT_FSIZE: 256 << 20,
           resource.RLIMIT_CORE: 0}


class Mutated(importlib.machinery.SourceFileLoader):
    """Imports a module from another source than that of its file."""

    def __init__(self, name: str, path: str, source: str):
        super().__init__(name, path)
        self._source = source

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        file = pathlib.Path(self.path)
        return importlib.util.spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=[
                str(file.parent)] if file.stem == '__init__' else None)

    def get_code(self, fullname):
        return compile(self._source, self.path, 'exec', dont_inherit=True)


class CosmicRayTestingException(Exception):
    """What cosmic-ray's mutants catch instead of another exception."""


def run(folder: str, mutant: tuple[str, str, str] | None,
        limits: dict[str, float], every: bool):
    """Run tests.

    :param folder: for files; the caller removes it.
    :param mutant: of :class:`Mutated`; None for none.
    :param limits: seconds by id of test, in the order to run them.
    :param every: do not end at the first that fails.
    """
    _settle(pathlib.Path(folder))
    _alarm(IMPORTS)
    if mutant:
        import builtins
        builtins.CosmicRayTestingException = CosmicRayTestingException
        sys.meta_path.insert(0, Mutated(*mutant))
    cases = _load(dict.fromkeys(map(module_of, limits)))
    with open(os.path.join(folder, RESULTS), 'w', encoding='utf-8') as file:
        for test, limit in limits.items():
            print(BEGUN, 0, test, file=file, flush=True)
            _alarm(limit)
            # The mutant or its effect: its module cannot be imported.
            sign, seconds = FAILED, 0.0
            if test in cases:
                sign, seconds = _run(cases[test])
            print(sign, f'{seconds:.3f}', test, file=file, flush=True)
            if sign == FAILED and not every:
                break


def measure(folder: str, modules: list[str], sources: list[str]):
    """Run all tests of modules, and measure which lines each reaches.

    Writes RESULTS, ``coverage`` with the ids of tests as contexts, and
    ``libraries.json``, the names of the modules of other projects.

    :param sources: files.
    """
    import coverage
    _settle(pathlib.Path(folder))
    cov = coverage.Coverage(data_file=f'{folder}/coverage', config_file=False,
                            include=sources)
    cov.start()
    cases = _load(modules)
    pathlib.Path(folder, 'libraries.json').write_text(json.dumps([
        name for name in sys.modules
        if not name.startswith(('magnum_capi', 'tests'))]))
    with open(os.path.join(folder, RESULTS), 'w', encoding='utf-8') as file:
        for test, case in cases.items():
            cov.switch_context(test)
            sign, seconds = _run(case)
            print(sign, f'{seconds:.3f}', test, file=file, flush=True)
    cov.stop()
    cov.save()


def module_of(test: str) -> str:
    """Name of the module of a test; modules are written in lower case."""
    parts = test.split('.')
    return '.'.join(parts[:next(
        (i for i, part in enumerate(parts) if part[:1].isupper()),
        len(parts))])


def _settle(folder):
    """Have a session, and files, of its own."""
    os.setsid()
    for which in signal.SIGINT, signal.SIGTERM, signal.SIGALRM:
        signal.signal(which, signal.SIG_DFL)
    own = folder / 'tmp'
    own.mkdir()
    os.environ['TMPDIR'] = tempfile.tempdir = str(own)
    # Programs that tests start inherit it.
    os.environ[runmarks.MARK] = str(folder)
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    for what, limit in _LIMITS.items():
        _soft, hard = resource.getrlimit(what)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(what, (limit, hard))


def _alarm(seconds):
    """End this process by SIGALRM after a while, whatever it is at."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _load(modules):
    """Tests by id; those of a module that cannot be imported are missing."""
    cases = {}
    for name in modules:
        try:
            suite = unittest.defaultTestLoader.loadTestsFromModule(
                importlib.import_module(name))
        except BaseException as e:
            print(f'{name}: {e!r}', flush=True)
        else:
            cases.update((case.id(), case) for case in _cases(suite))
    return cases


def _cases(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from _cases(one)
        else:
            yield one


def _run(case):
    result, began = unittest.TestResult(), time.monotonic()
    try:
        unittest.TestSuite([case]).run(result)
        passed = result.wasSuccessful()
    except BaseException:
        # Such as SystemExit, which testtools passes on.
        passed = False
    for _test, trace in (*result.errors, *result.failures):
        print(trace, flush=True)
    sign = (FAILED if not passed
            else SKIPPED if result.skipped or result.expectedFailures
            else PASSED)
    return sign, time.monotonic() - began
