# SPDX-License-Identifier: Apache-2.0


"""The driver fits Magnum 23: the real one loads it and calls it.

Magnum's own code runs in the cloud's Python with a separate database; there is
no cloud and no management cluster.
"""

import functools
import json
import os
import pathlib
import subprocess
import tempfile

import testtools

import magnum_capi
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment

_SCRIPT = pathlib.Path(__file__).with_name('contract.py')

_CONF = """\
[database]
connection = sqlite:///{folder}/magnum.sqlite
[certificates]
cert_manager_type = x509keypair
[k8s_capi]
kubeconfig_file = {folder}/missing
extra_os_distros = suse
[drivers]
disabled_drivers = k8s_capi_helm_v1
"""


def installed(folder):
    """Put the library and the driver into a folder.

    :returns: the Python of the cloud, which has Magnum.
    """
    package = pathlib.Path(magnum_capi.__file__).parent
    (folder / package.name).symlink_to(package)
    info = folder / 'magnum_capi-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: magnum-capi\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        '[magnum.drivers]\n'
        'k8s_capi_v1 = magnum_capi.driver.driver:Driver\n'
        '[magnum_capi.cli]\n'
        'driver_adopt = magnum_capi.cli.driver_adopt:Adopt\n')
    return environment.ensure(progress.Progress()) / 'bin/python'


@functools.cache
def answers():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        python = installed(folder)
        (folder / 'magnum.conf').write_text(_CONF.format(folder=folder))
        ended = subprocess.run(
            [python, '-W', 'ignore', _SCRIPT, folder], capture_output=True,
            text=True, timeout=600,
            env={**os.environ, 'PYTHONPATH': str(folder)})
    if ended.returncode:
        raise AssertionError(ended.stderr[-5000:])
    return json.loads(ended.stdout)


class DriverContractTest(testtools.TestCase):

    def test_discovered_for_what_it_provides(self):
        self.assertEqual(
            {os: 'k8s_capi_v1' for os in (
                'ubuntu', 'flatcar', 'debian', 'rocky', 'rockylinux',
                'suse')},
            answers()['map'])

    def test_found_by_name(self):
        self.assertEqual('Driver', answers()['by_name'])

    def test_takes_what_the_conductor_gives(self):
        self.assertEqual([], answers()['calls'])

    def test_each_request_reaches_its_operation(self):
        self.assertEqual({
            'create_cluster': ['create 60'],
            'update_cluster': ['change group=default-worker resize=True'],
            'delete_cluster': ['delete'],
            'resize_cluster': [
                "change group=others remove=('node-1',) resize=True"],
            'upgrade_cluster': ['upgrade t default-worker 1'],
            'create_nodegroup': ['change others group=others'],
            'update_nodegroup': ['change others group=others'],
            'delete_nodegroup': ['change others'],
            'rotate_credential': ['rotate None'],
        }, answers()['reached'])

    def test_odd_numbers_of_masters(self):
        self.assertEqual(
            [None, 'MasterNGSizeInvalid', None, 'MasterNGSizeInvalid'],
            answers()['sizes'])

    def test_refused_ca_rotation_keeps_the_certificates(self):
        # A.1: the conductor saves the new ones.
        self.assertEqual(['old'], answers()['ca']['refs'])
        self.assertIn('keeps its certificates', answers()['ca']['text'])
        # It does not leave them behind either.
        self.assertEqual([], answers()['ca']['left'])

    def test_row_that_is_read_again_has_no_changes(self):
        # Magnum's own refresh() keeps them, and save() writes them.
        self.assertEqual(
            {'there': True, 'status': 'UPDATE_IN_PROGRESS', 'changed': [],
             'groups': ['default-worker'], 'template': 't', 'user': None},
            answers()['reload'])

    def test_driver_that_magnum_takes_for_a_template(self):
        self.assertEqual(['k8s_capi_v1', 'k8s_capi_v1', None],
                         answers()['taken'])

    def test_row_tells_when_it_was_written(self):
        self.assertEqual({'aware': True, 'moved': True}, answers()['alive'])

    def test_row_that_is_gone(self):
        self.assertEqual([False, None, 'ClusterGone'], answers()['gone'])

    def test_missing_kubeconfig_is_reported(self):
        found = answers()['unconfigured']
        self.assertEqual('UNKNOWN', found['health'])
        self.assertIn('kubeconfig', found['told'])
        self.assertNotIn('/missing', found['told'])
