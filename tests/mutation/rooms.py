# SPDX-License-Identifier: Apache-2.0

"""What can be mutated, and the tests that have to see it."""

import dataclasses
import pathlib

TOP = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Room:
    """Packages and their tests.

    :param sources: folders and files below the top of the repository.
    :param tests: the same; patterns, too.
    """

    sources: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self) -> list[str]:
        """The modules of the sources, below the top."""
        return _below(self.sources)

    def modules(self) -> list[str]:
        """Names of the modules of tests."""
        return [module(path) for path in _below(self.tests, 'test_*.py')]


ROOMS = {
    'driver': Room(('magnum-capi/magnum_capi/driver',), (
        'tests/unit/driver',)),
    'kube': Room(('magnum-capi/magnum_capi/kube',), (
        'tests/unit/kube', 'tests/unit/driver')),
    'discovery': Room(('magnum-capi/magnum_capi/discovery',), (
        'tests/unit/discovery', 'tests/unit/cli/test_discovery.py',
        'tests/unit/package_tests/test_discovery.py')),
    'redact': Room(('magnum_capi_tempest/redact',), (
        'tests/unit/redact', 'tests/unit/test_redact.py',
        'tests/unit/workspace/test_redacting.py')),
    'leaks': Room(('magnum_capi_tempest/leaks',), (
        'tests/unit/leaks', 'tests/unit/cli/test_leaks.py')),
    'evidence': Room(('magnum_capi_tempest/evidence',), (
        'tests/unit/evidence', 'tests/unit/cli/test_evidence.py')),
    'scorecard': Room(('magnum_capi_tempest/scorecard',), (
        'tests/unit/scorecard', 'tests/unit/cli/test_driver_test.py')),
    'conformance-results': Room(tuple(
        f'magnum_capi_tempest/conformance/{name}.py' for name in (
            'archive', 'crosscheck', 'documents', 'junit', 'log', 'names',
            'tar', 'verdict')), (
        'tests/unit/conformance', 'tests/unit/cli/test_conformance*.py')),
    'suite-helpers': Room(('magnum_capi_tempest/tests/common',), (
        'tests/unit/package_tests',)),
}


def module(path: str) -> str:
    """Name of the module of a file below the top."""
    parts = pathlib.PurePath(path).with_suffix('').parts
    return '.'.join(parts).removeprefix('magnum-capi.').removesuffix(
        '.__init__')


def _below(patterns, names='*.py'):
    found = {path for pattern in patterns for match in TOP.glob(pattern)
             for path in (match.rglob(names) if match.is_dir() else [match])}
    return sorted(str(path.relative_to(TOP)) for path in found)
