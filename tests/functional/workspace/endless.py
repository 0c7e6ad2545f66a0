# SPDX-License-Identifier: Apache-2.0
"""A test that only a signal ends; see :mod:`.fake_suite`.

Files beside it say how far it is. Its cleanup takes as long as there is a file
``slow``.
"""

import os
import pathlib

from tempest import config
from tempest import test

from magnum_capi import waiting
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record

CLUSTER = '11111111-1111-4111-8111-111111111111'
HERE = pathlib.Path(__file__).parent


def wait_while(condition, what):
    waiting.wait_for(condition, done=lambda goes_on: not goes_on, timeout=600,
                     what=what, pace=waiting.Pace(0.1, 1, 0.1))


class EndlessTest(test.BaseTestCase):

    credentials = []

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        cls.addClassResourceCleanup((HERE / 'class-cleaned').touch)

    def clean(self):
        wait_while((HERE / 'slow').exists, 'the cleanup to be fast')
        (HERE / 'cleaned').touch()

    def test_waits(self):
        folder = config.CONF.magnum_capi.artifact_dir
        if folder:
            record.append(folder, model.Made(
                model.CLUSTER, CLUSTER, 'mine', self.id()))
        self.addCleanup(self.clean)
        (HERE / 'pid.new').write_text(str(os.getpid()))
        (HERE / 'pid.new').rename(HERE / 'pid')
        wait_while(lambda: True, 'the end of the world')
