# SPDX-License-Identifier: Apache-2.0

"""What Magnum's own API and conductor do with Heat's clusters.

Confirms what ``discovery audit --without`` and the page "You still have Heat
clusters" say about Magnum 23.
"""

import json
import pathlib
import subprocess
import tempfile
import uuid

import testtools

import magnum_capi
from magnum_capi.driver.desired import labels
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases

_SCRIPT = pathlib.Path(__file__).with_name('stranded.py')
_LIBRARY = pathlib.Path(magnum_capi.__file__).parents[1]
HEAT = 'k8s_fedora_coreos_v1'
#: For templates whose image named the driver, and for those whose did not.
NAMES = {'named': HEAT, 'null': None}


def seen(release):
    """{cluster: {operation: answer}}, see the script."""
    python = environment.ensure(progress.Progress(), release) / 'bin/python'
    templates = {name: str(uuid.uuid4()) for name in NAMES}
    rows = {
        'templates': [
            {'uuid': templates[name], 'name': name, 'driver': driver,
             'cluster_distro': 'fedora-coreos', 'flavor_id': 'f',
             'master_flavor_id': 'f'} for name, driver in NAMES.items()],
        'clusters': [
            {'uuid': str(uuid.uuid4()), 'name': name, 'stack_id': 's',
             'cluster_template_id': templates[name], 'keypair': 'k',
             'api_address': 'https://192.0.2.1:6443'} for name in NAMES]}
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [python, '-W', 'ignore', _SCRIPT, folder],
            env={'PYTHONPATH': str(_LIBRARY)}, input=json.dumps(rows),
            capture_output=True, text=True, timeout=300)
    if ended.returncode:
        raise AssertionError(ended.stderr)
    return json.loads(ended.stdout)


class StrandedTest(testtools.TestCase):

    def test_on_a_magnum_without_the_driver(self):
        for name, found in seen(releases.NEWEST).items():
            error = ('ClusterDriverNotSupported' if NAMES[name]
                     else 'ClusterTypeNotSupported')
            for what in ('list', 'show', 'show template', 'list node groups'):
                self.assertEqual(200, found[what][0], (name, what))
            self.assertIn(name, found['list'][1])
            # Accepted, but nothing is done.
            for what, status, after in (
                    ('resize', 202, 'CREATE_COMPLETE'),
                    ('delete', 204, 'CREATE_COMPLETE'),
                    ('create node group', 202, 'UPDATE_FAILED')):
                self.assertEqual((status, after), tuple(found[what][:3:2]),
                                 (name, what))
                self.assertIn(error, found[what][3], (name, what))
            self.assertEqual(400, found['create'][0], found['create'])
            self.assertIn('not supported by any loaded', found['create'][1])
            for job in 'update_status', 'update_health_status':
                self.assertIn(error, found[job])

    def test_on_the_last_magnum_with_it(self):
        release = releases.get('2026.1')
        for name, found in seen(release).items():
            self.assertNotIn('NotSupported', json.dumps(found), name)
            # It fails at Heat, which is missing.
            self.assertEqual((204, 'DELETE_FAILED'),
                             tuple(found['delete'][:3:2]))


class LabelsTest(testtools.TestCase):

    def test_those_of_magnum_capi_helm(self):
        python = environment.ensure(progress.Progress()) / 'bin/python'
        ended = subprocess.run(
            [python, '-W', 'ignore', '-c',
             'from magnum_capi_helm import driver\n'
             'print(*driver._REGISTERED_LABEL_NAMES)'],
            capture_output=True, text=True, timeout=120, check=True)
        self.assertEqual(set(ended.stdout.split()),
                         {name for name, field in labels.REGISTRY.items()
                          if field.metadata['helm']})
