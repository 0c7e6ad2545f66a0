# SPDX-License-Identifier: Apache-2.0
"""Cache and state folders of a test's own, so that it meets nobody's."""

import pathlib

import fixtures


class OwnFolders(fixtures.Fixture):
    """``base`` is a new folder; cache and state are set to be in it."""

    def _setUp(self):
        self.base = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()
        for name in ('CACHE', 'STATE'):
            self.useFixture(fixtures.EnvironmentVariable(
                f'MAGNUM_CAPI_{name}', str(self.base / name.lower())))
