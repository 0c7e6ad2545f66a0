# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi discovery``: which drivers there are, who serves, what is bad.

On a Magnum host they look at the drivers of their own Python environment;
elsewhere at an inventory, which "list -f json" writes.
"""

import argparse
import collections
import collections.abc
import json
import os
import pathlib
import sys
import typing

from cliff import columns
from cliff import command
import yaml

from magnum_capi.cli import base
from magnum_capi import errors

if typing.TYPE_CHECKING:
    from magnum_capi.discovery.audit import seen
    from magnum_capi.discovery import host as host_module

_PROPERTIES = ('magnum_distro', 'os_distro', 'magnum_driver')

# What a command calls is imported when it runs: "magnum-capi --help" loads
# every command, and openstacksdk is loaded only if a cloud is asked for.


class _Types(columns.FormattableColumn[list[dict[str, str]]]):

    def human_readable(self) -> str:
        from magnum_capi.discovery import model
        return '\n'.join(str(model.ClusterType(**t)) for t in self._value)


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
            help='Configuration of Magnum, may be repeated; /etc/magnum/'
                 'magnum.conf and the like by default.')
        parser.add_argument(
            '--config-dir', action='append', default=[], metavar='DIR',
            help='Folder with configuration of Magnum, may be repeated.')
        parser.add_argument(
            '--inventory', type=pathlib.Path, metavar='FILE',
            help='Drivers and configuration of another machine, as written '
                 'there by "discovery list -f json".')
        return parser

    def look(self, args: argparse.Namespace,
             pipeline: pathlib.Path | None = None) -> 'host_module.Host':
        from magnum_capi.discovery import host
        with base.quiet(self.app.options.debug):
            return host.look(args.config_file, args.config_dir,
                             args.inventory, pipeline)


def _add_cloud(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--os-cloud', metavar='NAME', default=os.environ.get('OS_CLOUD'),
        help='Cloud in clouds.yaml to look at (default: OS_CLOUD).')


class List(_OfHost, base.Lister):
    """Show the installed drivers, whether they can be used or not.

    In the order in which Magnum sees them: of several drivers with one
    cluster type, it takes the last.
    """

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import inventory
        return inventory.COLUMNS, [
            (name, _Types(types), state, _Flag(beta), _Flag(default), origin,
             _Text(error)) for name, types, state, beta, default, origin,
            error in inventory.rows(self.look(args).catalog)]


class Explain(_OfHost, base.Command):
    """Tell which driver serves a template of an image, and why.

    Exit code: 0 there is one, 1 there is none.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_cloud(parser)
        image = parser.add_mutually_exclusive_group(required=True)
        image.add_argument(
            '--image', metavar='IMAGE',
            help='Identifier or name of an image of the cloud.')
        image.add_argument(
            '--property', action='append', metavar='NAME=VALUE',
            type=_property, help='Property of an image, instead of a cloud; '
            f'may be repeated. One of {", ".join(_PROPERTIES)}.')
        parser.add_argument(
            '--driver', metavar='NAME', help='Driver that the template '
            'names; none by default.')
        parser.add_argument(
            '--server-type', default='vm', metavar='TYPE',
            help='Of the template; vm by default.')
        parser.add_argument(
            '--coe', default='kubernetes', metavar='COE',
            help='Of the template; kubernetes by default.')
        parser.add_argument(
            '-f', '--format', choices=('text', 'json', 'yaml'),
            default='text', help='text by default.')
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        from magnum_capi.discovery import explain
        from magnum_capi.discovery import model
        host = self.look(args)
        if args.property:
            properties, subject = _once(args.property), 'an image'
        else:
            with base.quiet(self.app.options.debug):
                found = _image(args)
            properties, subject = found.raw, str(found)
        story = explain.tell(
            subject, properties, model.Request(
                model.ImageProperties.of(properties), args.server_type,
                args.coe, args.driver), host.catalog)
        if args.format == 'json':
            text = json.dumps(story.data(), indent=2)
        elif args.format == 'yaml':
            text = yaml.safe_dump(story.data(), sort_keys=False).rstrip()
        else:
            text = '\n'.join(story.lines())
        print(text, file=self.app.stdout)
        return 0 if story.found else 1


class Audit(_OfHost, base.Lister):
    """Show what is wrong, or surprising, with drivers and who uses them.

    Exit code: 0 nothing, 1 there are errors, or warnings (with --strict).
    What was looked at is said on standard error.
    """

    _code = 0

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        _add_cloud(parser)
        parser.add_argument(
            '--api-paste', type=pathlib.Path, metavar='FILE',
            help='Paste file of Magnum\'s API; the one of its configuration '
                 'by default.')
        parser.add_argument(
            '--strict', action='store_true',
            help='Exit with 1 when there are warnings, too.')
        parser.set_defaults(fit_width=True)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import audit
        from magnum_capi.discovery.audit import findings
        host = self.look(args, pipeline=args.api_paste)
        cloud = None
        if args.os_cloud:
            from magnum_capi.discovery import cloud as reader
            with base.quiet(self.app.options.debug):
                cloud = reader.read(args.os_cloud)
        for line in (*host.looked_at, f'Cloud: {args.os_cloud}, {cloud.who}'
                     if cloud else 'Cloud: not looked at (--os-cloud)'):
            print(line, file=sys.stderr)
        found = audit.audit(host.catalog, cloud, host.position)
        bad = {findings.Severity.ERROR}
        if args.strict:
            bad.add(findings.Severity.WARNING)
        self._code = int(any(finding.severity in bad for finding in found))
        if not found:
            print('Nothing was found', file=sys.stderr)
        return (('Severity', 'Code', 'Subject', 'Finding', 'Cure'),
                [(f.severity.value, *f[1:]) for f in found])

    def run(self, parsed_args: argparse.Namespace) -> int:
        return super().run(parsed_args) or self._code


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


def _image(args: argparse.Namespace) -> 'seen.Image':
    if not args.os_cloud:
        raise errors.UsageError(
            'Which cloud has the image?', hint='Give --os-cloud, or the '
            'properties of the image with --property')
    from magnum_capi.discovery import cloud
    return cloud.find_image(args.os_cloud, args.image)
