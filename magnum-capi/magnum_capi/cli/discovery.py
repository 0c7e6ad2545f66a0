# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi discovery``: installed drivers, decisions and problems.

On a Magnum host the commands read the drivers of their own Python environment;
elsewhere an inventory, which "list -f json" writes.
"""

import argparse
import collections
import os
import pathlib
import sys
import types
import typing

from cliff import columns
from cliff import command

from magnum_capi.cli import base
from magnum_capi import errors

if typing.TYPE_CHECKING:
    from magnum_capi.discovery import explain
    from magnum_capi.discovery import host as host_module
    from magnum_capi.discovery import model

_PROPERTIES = ('magnum_distro', 'os_distro', 'magnum_driver')

# Commands import what they need when they run: "magnum-capi --help" loads
# every command, and openstacksdk is only needed for a cloud.


class _Types(columns.FormattableColumn[list[dict[str, str]]]):

    def human_readable(self) -> str:
        from magnum_capi.discovery import model
        return '\n'.join(str(model.ClusterType(**t)) for t in self._value)


class _Type(columns.FormattableColumn[typing.Any]):

    def human_readable(self) -> str:
        return str(self._value or '')

    def machine_readable(self) -> typing.Any:
        return self._value and self._value._asdict()


class _Lines(columns.FormattableColumn[typing.Any]):

    def human_readable(self) -> str:
        return '\n'.join(self._value)

    def machine_readable(self) -> typing.Any:
        return [*self._value]


class _Flag(columns.FormattableColumn[bool]):

    def human_readable(self) -> str:
        return 'yes' if self._value else ''


class _Text(columns.FormattableColumn[str | None]):

    def human_readable(self) -> str:
        return self._value or ''


class _OfHost(command.Command):
    """Adds the options that say where drivers are."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--config-file', action='append', default=[], metavar='FILE',
            help="Magnum's configuration file; may be repeated (default: the "
                 'files that Magnum reads, such as /etc/magnum/magnum.conf).')
        parser.add_argument(
            '--config-dir', action='append', default=[], metavar='DIR',
            help="Folder with Magnum's configuration files; may be repeated.")
        parser.add_argument(
            '--inventory', type=pathlib.Path, metavar='FILE',
            help='File with the drivers and the configuration of another '
                 'machine, written there by "discovery list -f json".')
        return parser

    def look(self, args: argparse.Namespace,
             pipeline: pathlib.Path | None = None) -> 'host_module.Host':
        from magnum_capi.discovery import host
        with base.quiet(self.app.options.debug):
            return host.inspect(args.config_file, args.config_dir,
                                args.inventory, pipeline)


def _add_cloud(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--cloud', metavar='NAME', default=os.environ.get('OS_CLOUD'),
        help='Cloud in clouds.yaml to read (default: OS_CLOUD).')


class List(_OfHost, base.Lister):
    """List the installed drivers, and whether they can be used.

    In the order in which Magnum sees them: if several drivers provide the same
    cluster type, Magnum uses the last one.
    """

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import host
        return host.COLUMNS, [
            (name, _Types(types), state, _Flag(beta), _Lines(options), origin,
             _Text(error), mode) for name, types, state, beta, options,
            origin, error, mode in host.rows(self.look(args).catalog)]


class Explain(base.Verdict, _OfHost, base.ShowOne):
    """Show which driver serves an image, template or cluster, and why.

    Exit code: 0 there is a driver, 1 there is none, 2 the command line is
    invalid, 3 the cloud or the drivers cannot be read.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_cloud(parser)
        subject = parser.add_mutually_exclusive_group(required=True)
        subject.add_argument(
            '--image', metavar='IMAGE',
            help='ID or name of an image in the cloud.')
        subject.add_argument(
            '--property', action='append', metavar='NAME=VALUE',
            type=_property, help='Property of an image, to use instead of an '
            'image in a cloud; may be repeated. One of '
            f'{", ".join(_PROPERTIES)}.')
        subject.add_argument(
            '--template', metavar='TEMPLATE', help='UUID or name of a cluster '
            'template in the cloud; shows which driver serves its new '
            'clusters.')
        subject.add_argument(
            '--cluster', metavar='CLUSTER', help='UUID or name of a cluster '
            'in the cloud; shows which driver serves it.')
        subject.add_argument(
            '--upgrade', nargs=2, metavar=('CLUSTER', 'TEMPLATE'),
            help='Cluster and cluster template; shows whether the cluster may '
                 'be upgraded to the template.')
        parser.add_argument(
            '--driver', metavar='NAME', help='Driver that a new template of '
            'the image names (default: none).')
        parser.add_argument(
            '--server-type', default='vm', metavar='TYPE',
            help='Server type of a new template of the image (default: vm).')
        parser.add_argument(
            '--coe', default='kubernetes', metavar='COE',
            help='COE of a new template of the image (default: kubernetes).')
        parser.set_defaults(fit_width=True)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        if args.driver and not (args.image or args.property):
            raise errors.UsageError(
                '--driver is for an image, of which a template is still to '
                'be made', hint='Name the image with --image or --property')
        host = self.look(args)
        with base.quiet(self.app.options.debug):
            found = _explained(args, host.catalog)
        self.code = int(found.driver is None)
        return (('Subject', 'Cluster type', 'Driver', 'Reasons', 'Refusal',
                 'Remedy', 'Candidates'),
                (found.subject, _Type(found.cluster_type),
                 _Text(found.driver), _Lines(found.reasons),
                 _Text(found.refusal), _Text(found.remedy),
                 _Lines(found.candidates)))


class Audit(base.Verdict, _OfHost, base.Lister):
    """Show what is wrong with drivers, images, templates and clusters.

    Exit code: 0 no errors, 1 there are errors, or warnings (with --strict), 2
    the command line is invalid, 3 the cloud or the drivers cannot be read.
    Standard error says what was examined.
    """

    empty = 'No findings'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_cloud(parser)
        parser.add_argument(
            '--api-paste', type=pathlib.Path, metavar='FILE',
            help="Paste file of Magnum's API (default: the one in Magnum's "
                 'configuration).')
        parser.add_argument(
            '--strict', action='store_true',
            help='Also exit with 1 if there are warnings.')
        parser.add_argument(
            '--without', metavar='DRIVER',
            help='Only show which templates and clusters in the cloud lose '
                 'their driver if this one is disabled or uninstalled.')
        parser.set_defaults(fit_width=True)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import audit
        from magnum_capi.discovery.audit import findings
        if args.without and not args.cloud:
            raise errors.UsageError('--without needs a cloud',
                                    hint='Name it with --cloud or OS_CLOUD')
        host = self.look(args, pipeline=args.api_paste)
        cloud = None
        if args.cloud:
            from magnum_capi.discovery import cloud as reader
            with base.quiet(self.app.options.debug):
                cloud = reader.read(args.cloud, bool(args.without))
            if args.without and args.without not in {
                    *host.catalog.by_name,
                    *(template.driver for template in cloud.templates)}:
                raise errors.UsageError(
                    'No driver of this name is installed, and no template in '
                    'the cloud names it', where=args.without)
        for line in (*host.read_from, f'Cloud: {args.cloud}, {cloud.who}'
                     if cloud else 'Cloud: not checked (--cloud)'):
            print(line, file=sys.stderr)
        if cloud and args.without:
            found = audit.without(args.without, host.catalog, cloud)
        else:
            found = audit.audit(host.catalog, cloud, host.position)
        bad = {findings.Severity.ERROR}
        if args.strict:
            bad.add(findings.Severity.WARNING)
        self.code = int(any(finding.severity in bad for finding in found))
        return (('Severity', 'Code', 'Subject', 'Finding', 'Remedy'),
                [(f.severity.value, *f[1:]) for f in found])


def _property(text: str) -> tuple[str, str]:
    name, equals, value = text.partition('=')
    if not equals or name not in _PROPERTIES:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not NAME=VALUE with NAME one of '
            f'{", ".join(_PROPERTIES)}')
    return name, value


def _once(pairs: list[tuple[str, str]]) -> dict[str, str | None]:
    properties: dict[str, str | None] = dict(pairs)
    for name, count in collections.Counter(
            name for name, _value in pairs).items():
        if count > 1:
            raise errors.UsageError(f'The property {name} is given twice')
    return properties


def _explained(args: argparse.Namespace,
               catalog: 'model.Catalog') -> 'explain.Explanation':
    from magnum_capi.discovery import explain
    from magnum_capi.discovery import model
    if args.property or args.image:
        if args.property:
            properties, subject = _once(args.property), 'an image'
        else:
            image = _cloud(args, 'image').find_image(args.cloud, args.image)
            properties, subject = image.raw, str(image)
        return explain.image(
            subject, properties, model.Request(
                model.ImageProperties.of(properties), args.server_type,
                args.coe, args.driver), catalog)
    if args.template:
        return explain.template(
            _cloud(args, 'template').find_template(
                args.cloud, args.template), catalog)
    cloud = _cloud(args, 'cluster')
    cluster, current = cloud.find_cluster(
        args.cloud, args.cluster or args.upgrade[0])
    if args.cluster:
        return explain.cluster(cluster, current, catalog)
    return explain.upgrade(
        cluster, current,
        cloud.find_template(args.cloud, args.upgrade[1]), catalog)


def _cloud(args: argparse.Namespace, what: str) -> types.ModuleType:
    """The module that reads clouds, if the user names one."""
    if not args.cloud:
        raise errors.UsageError(
            f'Cannot look up the {what}: no cloud is named',
            hint='Name it with --cloud or OS_CLOUD'
            + (', or the properties of the image with --property'
               if what == 'image' else ''))
    from magnum_capi.discovery import cloud
    return cloud
