# SPDX-License-Identifier: Apache-2.0

"""The commands of the page "Move from another driver", section "From Heat".

On the last Magnum with the Heat driver, which is then upgraded to the first
one without. Heat itself is not needed: the commands are about templates. For
clusters see :mod:`.test_stranded`. Needs the packages of bindep's profile
"full", because Magnum is upgraded by its migrations.
"""

import pathlib

import fixtures

from magnum_capi import waiting
from tests.functional import boxes
from tests.functional import typed
from tests.system.sandbox import magnum_upgrade
from tests.unit.docs import pages

#: Labels and fields that Heat's users have.
_OLD = ('coe cluster template create old-template --coe kubernetes '
        '--image fedora-coreos --external-network public --flavor m1.small '
        '--master-flavor m1.small --network-driver flannel '
        '--labels kube_tag=v1.28.9-rancher1,boot_volume_size=20')

#: The part that is for the upgraded Magnum.
_UPGRADED = 'After the upgrade\n~~~~~~~~~~~~~~~~~\n'


@boxes.LONG
class HeatPageTest(boxes.TestCase):

    def test_before_and_after_the_upgrade(self):
        box = self.box()
        self.assert_done(box.up('--profile', 'full', '--magnum', '2026.1',
                                '--install',
                                pages.TOP / 'drivers' / 'k8s_capi_v1'))
        folder = pathlib.Path(
            self.useFixture(fixtures.TempDir(rootdir='/tmp')).path)
        layout = box.sandbox.layout()
        # An operator's files in ~/.config/openstack and in /etc/magnum.
        clouds = folder / 'clouds.yaml'
        clouds.write_text((layout.directory / 'clouds.yaml').read_text()
                          .replace('sandbox-admin:', 'admin:'))
        shell = self.useFixture(typed.Shell(
            folder, OS_CLOUD='admin', OS_CLIENT_CONFIG_FILE=str(clouds)))
        etc = folder / 'home' / '.magnum'
        etc.mkdir()
        for path in layout.magnum_conf:
            (etc / {'.d': 'magnum.conf.d'}.get(
                path.suffix, path.name)).symlink_to(path)
        openstack = shell.run(
            f'eval "$(magnum-capi sandbox env --directory {box.directory})"; '
            'echo $SANDBOX_OPENSTACK').strip()
        (folder / 'image').write_bytes(bytes(100))
        shell.run(f'{openstack} image create --public --file image '
                  '--property os_distro=fedora-coreos fedora-coreos; '
                  f'{openstack} {_OLD}; '
                  f'{openstack} keypair create mykey', cwd=folder)

        before, after = (
            sum(pages.blocks(text), []) for text in
            pages.section('migrate', 'From Heat').split(_UPGRADED))

        def type_(commands):
            seen = shell.type(commands, cwd=folder, replace=(
                ('magnum-capi ', f'{layout.magnum_env}/bin/magnum-capi '),
                ('openstack ', f'{openstack} ')))
            for one in seen:
                self.assertEqual(one.command.code, one.code, one.output)
                self.assertTrue(one.command.printed(one.output),
                                f'{one.command.text}\n{one.output}')
            self.assertEqual(len(commands), len(seen))

        type_(before)
        self.assert_done(magnum_upgrade.upgrade(box, '2026.2'))
        type_(after)

        # The page leaves the new cluster to its reader.
        waiting.wait_for(
            lambda: shell.run(f'{openstack} coe cluster list -f value '
                              '-c name -c status').strip(),
            done=lambda seen: seen == 'moved CREATE_COMPLETE',
            failed=lambda seen: seen if 'FAILED' in seen else None,
            timeout=300, what='the new cluster to be complete')
