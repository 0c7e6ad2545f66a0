# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest``: test a cloud that is there already."""

import os
import pathlib
import shlex

from magnum_capi.cli import base
from magnum_capi import errors


class Init(base.Command):
    """Make a Tempest workspace for a cloud of clouds.yaml.

    It takes what is unique in the cloud, and names the options to give for
    the rest. Then "tempest run" in the folder tests the cloud.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        add_cloud(parser, required=True)
        parser.add_argument(
            '--driver', default='', metavar='NAME',
            help='Magnum driver to test; wanted where several provide the '
                 'type of the image (default: the one that Magnum chooses).')
        parser.add_argument('folder', metavar='DIR', type=pathlib.Path,
                            help='The workspace; new or empty.')
        return parser

    def take_action(self, args):
        choice = init(args.folder, args, args.driver)
        say = self.app.stdout.write
        for line in choice.notes():
            say(f'{line[0].upper()}{line[1:]}.\n')
        workers = (f' --concurrency {choice.workers}' if choice.workers
                   else '')
        # "sandbox env" sets it; Tempest would read another configuration.
        unset = ('  unset TEMPEST_CONFIG_DIR\n'
                 if os.environ.get('TEMPEST_CONFIG_DIR') else '')
        say('Now test it:\n'
            f'{unset}'
            f'  cd {shlex.quote(str(args.folder))}\n'
            f"  tempest run --regex 'magnum_capi.*smoke'{workers}\n")


def add_cloud(parser, required):
    """Options that say which cloud, and what to test it with."""
    parser.add_argument(
        '--cloud', action='append', default=[], metavar='NAME',
        required=required,
        help='Cloud in clouds.yaml; its user runs the tests. May be given '
             'again for more users of the same cloud. If the first one is an '
             'administrator, Tempest makes users as it needs them.')
    parser.add_argument(
        '--image', metavar='IMAGE', required=required,
        help='Name or id of the image that nodes boot from.')
    parser.add_argument(
        '--flavor', metavar='FLAVOR', help='Name or id of the flavor of '
        'workers (default: the only one with 2 vCPU and 2 GiB).')
    parser.add_argument(
        '--master-flavor', metavar='FLAVOR',
        help='Name or id of the flavor of control plane nodes (default: that '
             'of workers).')
    parser.add_argument(
        '--external-network', metavar='NETWORK',
        help='Name or id of the external network (default: the only one).')
    parser.add_argument(
        '--network-driver', default='calico', metavar='NAME',
        help='Network driver of cluster templates (default: calico).')
    parser.add_argument(
        '--static', action='store_true',
        help='Make no users, not even as an administrator.')


def init(folder, args, driver=''):
    """Make the workspace that options of :func:`add_cloud` describe."""
    try:
        from magnum_capi_tempest.workspace import init as workspaces
        from magnum_capi_tempest.workspace import selection
    except ImportError as e:
        raise errors.EnvironmentProblem(
            f'The package {e.name} is missing',
            hint='pip install tempest') from e
    return workspaces.init(
        folder, args.cloud, selection.Preferences(
            args.image, args.flavor, args.master_flavor,
            args.external_network, args.network_driver, driver),
        static=args.static)
