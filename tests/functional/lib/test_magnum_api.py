# SPDX-License-Identifier: Apache-2.0

"""tests.lib.magnum_api keeps rows as Magnum's objects do, on SQLite."""

import json
import os
import pathlib
import subprocess
import tempfile
import types

import testtools

from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from tests.functional.lib import magnum_rows
from tests.lib import doors
from tests.lib import magnum_api
from tests.lib import openstack_api
from tests.lib import virtual_time

_CONF = """\
[database]
connection = sqlite:///{folder}/magnum.sqlite
"""


def _answers():
    python = environment.ensure(progress.Progress()) / 'bin/python'
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'magnum.conf').write_text(
            _CONF.format(folder=folder))
        ended = subprocess.run(
            [python, '-W', 'ignore', magnum_rows.__file__, folder],
            capture_output=True, text=True, timeout=600, env=dict(os.environ))
    if ended.returncode:
        raise AssertionError(ended.stderr[-5000:])
    return json.loads(ended.stdout)


def _ours():
    clock = virtual_time.Clock(1_700_000_000)
    magnum = magnum_api.Magnum(
        clock, doors.Doors(clock), openstack_api.OpenStack(), 'd')
    admin = magnum_api.admin()

    def made(kind, table):
        def new(**fields):
            row = kind(magnum, table, admin, {
                **dict.fromkeys(kind.fields), **fields})
            row.create()
            return row
        return new

    return magnum_rows.speak(
        made(magnum_api.Template, magnum.templates),
        made(magnum_api.Cluster, magnum.clusters),
        made(magnum_api.NodeGroup, magnum.groups),
        types.SimpleNamespace(
            Cluster=types.SimpleNamespace(
                get_by_uuid=magnum.get_cluster, list=magnum.list_clusters),
            NodeGroup=types.SimpleNamespace(list=magnum.list_groups)),
        admin, magnum_api.Context(user_id='u', project_id='another'))


class RowsTest(testtools.TestCase):

    maxDiff = None

    def test_rows(self):
        real, ours = _answers(), _ours()
        self.assertEqual({}, {
            what: (found, ours[what]) for what, found in real.items()
            if found != ours[what]})
