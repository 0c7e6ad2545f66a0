# SPDX-License-Identifier: Apache-2.0
"""Distributions with entry points of drivers, for the time of a test."""

import importlib
import pathlib
import sys
import textwrap

import fixtures

DRIVER = '''
    class Driver:
        beta = False
        provides = [
            {'server_type': 'vm', 'os': 'ubuntu', 'coe': 'kubernetes'}]
'''


class Distributions(fixtures.Fixture):
    """A new folder, the first on the path of Python."""

    def _setUp(self):
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        self._names = set()
        self.addCleanup(self._forget)
        self.useFixture(fixtures.MonkeyPatch('sys.path', [
            str(self.folder), *sys.path]))

    def _forget(self):
        for name in self._names:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()

    def add(self, distribution, version='1.0', **drivers):
        """Names of entry points, and what they load: ``module:Class``."""
        self.add_raw(distribution, version, '[magnum.drivers]\n' + ''.join(
            f'{name} = {value}\n' for name, value in drivers.items()))

    def add_raw(self, distribution, version, entry_points):
        info = self.folder / f'{distribution}-{version}.dist-info'
        info.mkdir()
        (info / 'METADATA').write_text(
            f'Metadata-Version: 2.1\nName: {distribution}\n'
            f'Version: {version}\n')
        (info / 'entry_points.txt').write_text(entry_points)

    def module(self, name, text=DRIVER):
        (self.folder / f'{name}.py').write_text(textwrap.dedent(text))
        self._names.add(name)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
