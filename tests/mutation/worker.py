# SPDX-License-Identifier: Apache-2.0


"""What happens in a process of its own: import a mutant, run its tests.

The process is forked from one that has imported the libraries already, but
nothing of the project that could be mutated. What it finds it writes to files
in its folder, line by line, for it may never come to an end.
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

#: Seconds for a test, and how often as long as without a mutant.
SECONDS, TIMES = 15, 10

#: Seconds for imports.
IMPORTS = 90

#: Bytes of memory and of a file that a mutant may take.
_MEMORY, _FILE = 8 << 30, 256 << 20

#: What the files of its folder are called.
OUTCOME, AT, LOG = 'outcome', 'at', 'log'


class Mutated(importlib.machinery.SourceFileLoader):
    """Imports a module from another source than that of its file."""

    def __init__(self, name: str, path: str, source: str):
        super().__init__(name, path)
        self._name, self._source = name, source

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        file = pathlib.Path(self.path)
        folder = [str(file.parent)] if file.stem == '__init__' else None
        return importlib.util.spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=folder)

    def get_code(self, fullname):
        return compile(self._source, self.path, 'exec', dont_inherit=True)


class First(unittest.TestResult):
    """Stops at the first test that does not pass.

    :param file: gets the id of each test that begins.
    :param limits: seconds by id.
    """

    def __init__(self, file, limits: dict):
        super().__init__()
        self.failfast = True
        self.killer = None
        self._file, self._limits = file, limits

    def startTest(self, test):
        super().startTest(test)
        print(test.id(), file=self._file, flush=True)
        alarm(self._limits.get(test.id(), IMPORTS))

    def stopTest(self, test):
        super().stopTest(test)
        if self.killer is None and not self.wasSuccessful():
            self.killer = test.id()
            self.stop()


class Timed(unittest.TestResult):
    """Knows which tests passed, and how long they took.

    :param starts: called with the id of each test.
    """

    def __init__(self, starts):
        super().__init__()
        self.seconds, self.bad = {}, []
        self._starts, self._others = starts, set()

    def startTest(self, test):
        super().startTest(test)
        self._starts(test.id())
        self._began = time.monotonic()

    def addSkip(self, test, reason):
        self._others.add(test.id())

    def addExpectedFailure(self, test, err):
        self._others.add(test.id())

    def addUnexpectedSuccess(self, test):
        self._others.add(test.id())

    def addError(self, test, err):
        self.bad.append(f'{test.id()}: {err[1]!r}')

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)

    def stopTest(self, test):
        super().stopTest(test)
        if test.id() not in self._others:
            self.seconds[test.id()] = time.monotonic() - self._began


def settle(folder: pathlib.Path):
    """Have this process in a session, and with files, of its own."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    own = folder / 'tmp'
    own.mkdir()
    os.environ['TMPDIR'] = tempfile.tempdir = str(own)
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT)
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    for what, limit in ((resource.RLIMIT_AS, _MEMORY),
                        (resource.RLIMIT_FSIZE, _FILE),
                        (resource.RLIMIT_CORE, 0)):
        _soft, hard = resource.getrlimit(what)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(what, (limit, hard))


def alarm(seconds: float):
    """End this process by SIGALRM after a while, whatever it is at."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


def try_mutant(folder: pathlib.Path, module: str, path: str,
               source: str | None, tests: dict):
    """Run tests until one fails, and write down how that ended.

    ``killed ID``, ``import TEXT``, or ``survived``.

    :param source: of the mutant; None for none.
    :param tests: seconds without a mutant, by id, in the order to run them.
    """
    alarm(IMPORTS)
    if source is not None:
        mutated = Mutated(module, path, source)
        sys.meta_path.insert(0, mutated)
        why = _why_not(module)
        if why and not _fails_by_itself(module, mutated):
            _write(folder, f'import {why}')
            return
    try:
        cases = {case.id(): case for case in _cases(load(tuple(tests)))}
        missing = next((test for test in tests if test not in cases), None)
    except Exception as e:
        missing = f'{type(e).__name__}: {e}'
    if missing:
        # A module of tests, or another one it needs, cannot be imported.
        _write(folder, f'import {missing}')
        return
    with open(folder / AT, 'w', encoding='utf-8') as file:
        result = First(file, {test: SECONDS + TIMES * seconds
                              for test, seconds in tests.items()})
        unittest.TestSuite(cases[test] for test in tests).run(result)
    _write(folder, f'killed {result.killer or "before its test"}'
           if not result.wasSuccessful() else 'survived')


def _why_not(module):
    """Why a module cannot be imported; empty when it can."""
    try:
        importlib.import_module(module)
    except BaseException as e:
        return f'{type(e).__name__}: {e}'
    return ''


def _fails_by_itself(module, mutated):
    """Whether it is not the mutant that cannot be imported.

    Some need Magnum; tests have a stand-in for it, and then the mutant.
    """
    sys.meta_path.remove(mutated)
    try:
        return bool(_why_not(module))
    finally:
        sys.meta_path.insert(0, mutated)


def measure(folder: pathlib.Path, package: pathlib.Path, suites: list):
    """Run all tests, and write down what each runs, as JSON.

    ``{'seconds': {ID: SECONDS}, 'bad': [ID], 'lines': {FILE: {LINE: [ID]}},
    'libraries': [MODULE]}``, files below the package.

    :param suites: folders and files of tests.
    """
    import coverage
    cov = coverage.Coverage(data_file=None, include=[f'{package}/*'],
                            config_file=False)
    cov.start()
    suite = unittest.TestSuite(_discovered(path) for path in suites)
    libraries = [name for name in sys.modules
                 if not name.startswith((package.name, 'tests'))]
    result = Timed(cov.switch_context)
    suite.run(result)
    cov.stop()
    data = cov.get_data()
    lines = {
        str(pathlib.Path(file).relative_to(package)): {
            line: sorted(ids) for line, found
            in data.contexts_by_lineno(file).items()
            if (ids := [one for one in found if one in result.seconds])}
        for file in data.measured_files()}
    (folder / OUTCOME).write_text(json.dumps({
        'seconds': result.seconds, 'bad': result.bad, 'lines': lines,
        'libraries': libraries}), encoding='utf-8')


def load(tests: tuple[str, ...]) -> unittest.TestSuite:
    """The modules of tests, whole."""
    modules = dict.fromkeys(module_of(test) for test in tests)
    return unittest.defaultTestLoader.loadTestsFromNames(modules)


def module_of(test):
    """Name of the module of a test; modules are written in lower case."""
    parts = test.split('.')
    return '.'.join(parts[:next(
        (i for i, part in enumerate(parts) if part[:1].isupper()),
        len(parts))])


def _discovered(path):
    top = str(pathlib.Path.cwd())
    if path.is_dir():
        return unittest.TestLoader().discover(str(path), top_level_dir=top)
    return unittest.TestLoader().discover(
        str(path.parent), pattern=path.name, top_level_dir=top)


def _cases(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from _cases(one)
        else:
            yield one


def _write(folder, text):
    (folder / OUTCOME).write_text(text, encoding='utf-8')
