# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest``: test an existing cloud."""

import argparse
import os
import pathlib
import shlex
import sys
import typing

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi_tempest.cli import driver_report

if typing.TYPE_CHECKING:
    from magnum_capi_tempest.workspace import selection as selection_


class Init(base.Command):
    """Create a Tempest workspace for a cloud in clouds.yaml.

    Chooses flavors and networks that are the only ones of their kind in the
    cloud, and names the options for the others. After that, "tempest run" in
    the folder tests the cloud.

    To find out which driver Magnum takes, it creates up to two cluster
    templates and deletes them at once. If it is killed meanwhile, the names of
    what remains begin with "magnum-capi-init-". Remove it with "openstack coe
    cluster template delete NAME".
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_cloud(parser, always=True)
        parser.add_argument(
            '--driver', default='', metavar='NAME',
            help='Magnum driver to test; required if Magnum refuses to choose '
                 'among several that provide the cluster type of the image '
                 '(default: the one that Magnum chooses).')
        add_more(parser)
        parser.add_argument('folder', metavar='DIR', type=pathlib.Path,
                            help='Folder of the workspace, new or empty.')
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        choice = init(
            args.folder, args, args.driver, overwrite=args.overwrite,
            labels=tuple(args.label), upgrade_image=args.upgrade_image,
            management_kubeconfig=_kubeconfig(args.management_kubeconfig),
            options=tuple(args.option), features=tuple(args.feature),
            discovery_filter=args.discovery_filter,
            of_driver=_of_driver)
        say = self.app.stdout.write
        for line in choice.notes():
            say(f'{line[0].upper()}{line[1:]}.\n')
        say('To find this out, it created cluster templates, '
            'magnum-capi-init-*, and deleted them.\n')
        folder = shlex.quote(str(args.folder))
        say('To test the cloud:\n'
            f'  magnum-capi tempest run {folder} --regex '
            "'magnum_capi.*smoke'\n"
            'If a run is killed, this shows what it left:\n'
            f'  magnum-capi tempest leaks {folder}\n')


def _of_driver(name: str) -> dict[str, str] | None:
    """Options of [magnum_capi] for a driver; None: nothing describes it."""
    described = driver_report.description(None, name) if name else None
    return None if described is None else {
        **described.tempest, 'not_promised': ','.join(
            sorted({*described.unsupported, *described.known_issues}))}


def add_more(parser: argparse._ActionsContainer) -> None:
    """Options for other settings in tempest.conf."""
    parser.add_argument(
        '--label', type=_label, action='append', default=[],
        metavar='NAME=VALUE',
        help='Label of all cluster templates; may be repeated.')
    parser.add_argument(
        '--upgrade-image', metavar='IMAGE',
        help='Name or id of an image with the next minor version of '
             'Kubernetes; without it, upgrades are not tested.')
    parser.add_argument(
        '--management-kubeconfig', type=pathlib.Path, metavar='FILE',
        help='Kubeconfig of the management cluster, to explain failures with '
             'its conditions.')
    parser.add_argument(
        '--option', type=options, action='extend', default=[],
        metavar='NAME=VALUE',
        help='Option to set in [magnum_capi] of tempest.conf; may be '
             'repeated; "-" reads lines from standard input.')
    parser.add_argument(
        '--feature', type=feature, action='append', default=[],
        metavar='NAME[=false]',
        help='Feature that the cloud has or lacks, an option of '
             '[magnum_capi_feature_enabled]; may be repeated.')
    parser.add_argument(
        '--discovery-filter', action='store_true',
        help='The discovery filter is in front of this Magnum: what it '
             'promises is tested.')
    parser.add_argument(
        '--overwrite', action='store_true',
        help='Replace edited files of the workspace, and keep them under '
             'another name, instead of refusing.')


def option(text: str) -> tuple[str, str]:
    """A word NAME=VALUE as (name, value), for argparse."""
    # oslo.config is needed only here.
    from magnum_capi_tempest import config
    name, equals, value = text.partition('=')
    if not (name.isidentifier() and equals and value.isprintable()):
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=VALUE')
    if name in {known.dest for known in config.FEATURE_OPTS}:
        raise argparse.ArgumentTypeError(
            f'{name!r} is an option of [magnum_capi_feature_enabled], not of '
            '[magnum_capi]')
    if name not in {known.dest for known in config.OPTS}:
        raise argparse.ArgumentTypeError(
            f'[magnum_capi] has no option {name!r}: "oslo-config-generator '
            '--namespace magnum_capi_tempest" lists all options')
    return name, value


def lines(word: str) -> list[str]:
    """The word, or the lines of standard input if it is "-".

    All users of a machine may read arguments.
    """
    return [word] if word != '-' else [
        line for line in sys.stdin.read().splitlines() if line]


def options(text: str) -> list[tuple[str, str]]:
    """Options in a word or in standard input, for argparse."""
    return [option(line) for line in lines(text)]


def _label(text: str) -> tuple[str, str]:
    name, equals, value = text.partition('=')
    if not (name and equals):
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME=VALUE')
    return name, value


def feature(text: str) -> tuple[str, bool]:
    """A word NAME or NAME=false as (name, bool), for argparse."""
    # oslo.config is needed only here.
    from magnum_capi_tempest import config
    name, _, value = text.partition('=')
    if value not in ('', 'true', 'false'):
        raise argparse.ArgumentTypeError(f'{text!r} is not NAME[=false]')
    if name not in {known.dest for known in config.FEATURE_OPTS}:
        raise argparse.ArgumentTypeError(
            f'[magnum_capi_feature_enabled] has no option {name!r}')
    return name, value != 'false'


def _kubeconfig(path: pathlib.Path | None) -> str:
    if path is None:
        return ''
    if not path.is_file():
        raise errors.UsageError('There is no such kubeconfig', where=path)
    return str(path.absolute())


def add_cloud(parser: argparse._ActionsContainer, always: bool) -> None:
    """Options for the cloud, and for what to test it with.

    :param always: there is always a cloud, by default that of OS_CLOUD.
    """
    default = ' (default: OS_CLOUD)' if always else ''
    parser.add_argument(
        '--cloud', action='append', default=[], metavar='NAME',
        help=f'Cloud in clouds.yaml whose user runs the tests{default}; may '
             'be repeated for more users of the same cloud. If the first user '
             'is an administrator, Tempest creates the users it needs.')
    parser.add_argument(
        '--image', metavar='IMAGE', required=always,
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
        help='Do not create users, even as an administrator.')


def init(folder: pathlib.Path, args: argparse.Namespace, driver: str = '', *,
         overwrite: bool = False, **more: typing.Any) -> 'selection_.Choice':
    """Create the workspace that options of :func:`add_cloud` describe.

    :param more: fields of workspace.selection.Preferences.
    :raises UsageError: no cloud is named, or what is named is not there.
    """
    clouds = args.cloud or [
        name for name in [os.environ.get('OS_CLOUD')] if name]
    if not clouds:
        raise errors.UsageError('No cloud is named', hint='Use --cloud with a '
                                'name in clouds.yaml, or set OS_CLOUD')
    try:
        from magnum_capi_tempest.workspace import init as workspaces
        from magnum_capi_tempest.workspace import selection
    except ImportError as e:
        raise errors.EnvironmentProblem(
            f'The package {e.name} is missing',
            hint='pip install tempest') from e
    return workspaces.init(
        folder, clouds, selection.Preferences(
            args.image, args.flavor, args.master_flavor,
            args.external_network, args.network_driver, driver, **more),
        static=args.static, overwrite=overwrite)
