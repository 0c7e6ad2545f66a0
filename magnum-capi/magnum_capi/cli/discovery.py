# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi discovery``: installed drivers, decisions and problems.

On a Magnum host the commands read the drivers of their own Python environment;
elsewhere an inventory, which "list -f json" writes.
"""

import argparse
import collections
import collections.abc
import fileinput
import json
import os
import pathlib
import sys
import types
import typing

from cliff import columns
from cliff import command
from cliff import lister
import yaml

from magnum_capi.cli import base
from magnum_capi.cli import endings
from magnum_capi import errors
from magnum_capi import outfile

if typing.TYPE_CHECKING:
    from magnum_capi.discovery import explain
    from magnum_capi.discovery import host as host_module
    from magnum_capi.discovery import model
    from magnum_capi.discovery import request_log
    from magnum_capi.discovery import translate

OWN = 'k8s_capi_v1'
#: Drivers whose labels are known here.
TRANSLATED = (OWN, 'k8s_capi_helm_v1')

#: Major versions of Magnum by release.
_RELEASES = {'2025.2': 21, '2026.1': 22, '2026.2': 23}
_PROPERTIES = ('magnum_distro', 'os_distro', 'magnum_driver')

# Commands import what they need when they run: "magnum-capi --help" loads
# every command, and openstacksdk is only needed for a cloud.


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
            return host.look(args.config_file, args.config_dir,
                             args.inventory, pipeline,
                             getattr(args, 'magnum', None))


def _add_magnum(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--magnum', type=int, choices=range(20, 24), metavar='N',
        help='Major version of Magnum to compare with, from 20 (2025.1) to 23 '
             '(2026.2) (default: the version in this Python environment; with '
             '--inventory, the newest).')


def add_cloud(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        '--os-cloud', metavar='NAME', default=os.environ.get('OS_CLOUD'),
        help='Cloud in clouds.yaml to read (default: OS_CLOUD).')


class List(_OfHost, base.Lister):
    """List the installed drivers, and whether they can be used.

    In the order in which Magnum sees them: if several drivers provide the same
    cluster type, Magnum uses the last one.
    """

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import inventory
        return inventory.COLUMNS, [
            (name, _Types(types), state, _Flag(beta), _Flag(default), origin,
             _Text(error), mode) for name, types, state, beta, default,
            origin, error, mode in inventory.rows(self.look(args).catalog)]


class Explain(_OfHost, base.Judging):
    """Show which driver serves an image, template or cluster, and why.

    With --request, shows why a request was refused. Exit code: 0 there is a
    driver, 1 there is none or the request was refused, 2 the command line is
    invalid, 3 the cloud or the drivers cannot be read.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_cloud(parser)
        _add_magnum(parser)
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
        subject.add_argument(
            '--request', metavar='REQUEST', help='ID of a request that the '
            'filter has answered, such as req-..., to look for in the log of '
            "Magnum's API.")
        parser.add_argument(
            '--magnum-log', action='append', default=[], metavar='FILE',
            help='Log file for --request; may be repeated; - is standard '
                 "input (default: the log file in Magnum's configuration).")
        parser.add_argument(
            '--driver', metavar='NAME', help='Driver that a new template of '
            'the image names (default: none).')
        parser.add_argument(
            '--server-type', default='vm', metavar='TYPE',
            help='Server type of a new template of the image (default: vm).')
        parser.add_argument(
            '--coe', default='kubernetes', metavar='COE',
            help='COE of a new template of the image (default: kubernetes).')
        parser.add_argument(
            '-f', '--format', choices=('text', 'json', 'yaml'),
            default='text', help='Output format (default: text).')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        if args.request:
            entry = _logged(args)
            self._print(args, entry)
            return int(not entry.good)
        host = self.look(args)
        with base.quiet(self.app.options.debug):
            story = _story(args, host.catalog)
        self._print(args, story)
        return int(not story.found)

    def _print(self, args: argparse.Namespace, story: typing.Any) -> None:
        if args.format == 'json':
            text = json.dumps(story.data(), indent=2)
        elif args.format == 'yaml':
            text = yaml.safe_dump(story.data(), sort_keys=False).rstrip()
        else:
            text = '\n'.join(story.lines())
        print(text, file=self.app.stdout)


class Audit(_OfHost, base.Lister):
    """Show problems and surprises with the drivers and their users.

    Exit code: 0 no errors, 1 there are errors, or warnings (with --strict), 2
    the command line is invalid, 3 the cloud or the drivers cannot be read.
    Standard error says what was examined.
    """

    _code = 0

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_cloud(parser)
        _add_magnum(parser)
        parser.add_argument(
            '--api-paste', type=pathlib.Path, metavar='FILE',
            help="Paste file of Magnum's API (default: the one in Magnum's "
                 'configuration).')
        parser.add_argument(
            '--strict', action='store_true',
            help='Also exit with 1 if there are warnings.')
        parser.add_argument(
            '--upgrade-to', metavar='RELEASE', choices=_RELEASES,
            help='Only show which templates and clusters in the cloud lose '
                 'their driver when Magnum is upgraded to this release, one '
                 f'of: {", ".join(_RELEASES)}.')
        parser.set_defaults(fit_width=True)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import audit
        from magnum_capi.discovery.audit import findings
        from magnum_capi.discovery.audit import stranded
        if args.upgrade_to and not args.os_cloud:
            raise errors.UsageError('--upgrade-to needs a cloud',
                                    hint='Name it with --os-cloud or OS_CLOUD')
        host = self.look(args, pipeline=args.api_paste)
        cloud = None
        if args.os_cloud:
            from magnum_capi.discovery import cloud as reader
            with base.quiet(self.app.options.debug):
                cloud = reader.read(args.os_cloud, bool(args.upgrade_to))
        for line in (*host.looked_at, f'Cloud: {args.os_cloud}, {cloud.who}'
                     if cloud else 'Cloud: not checked (--os-cloud)'):
            print(line, file=sys.stderr)
        if cloud and args.upgrade_to:
            found = stranded.audit(host.catalog, cloud,
                                   _RELEASES[args.upgrade_to])
        else:
            found = audit.audit(host.catalog, cloud, host.position)
        bad = {findings.Severity.ERROR}
        if args.strict:
            bad.add(findings.Severity.WARNING)
        self._code = int(any(finding.severity in bad for finding in found))
        if not found:
            print('No findings', file=sys.stderr)
        return (('Severity', 'Code', 'Subject', 'Finding', 'Cure'),
                [(f.severity.value, *f[1:]) for f in found])

    def run(self, parsed_args: argparse.Namespace) -> int:
        return endings.judged(
            lambda: lister.Lister.run(self, parsed_args) or self._code,
            self.app.options.debug)


class Translate(base.Lister):
    """Translate a template of Magnum's Heat driver for another driver.

    Prints a row for each field and label: its new form, or why it is lost.
    Nothing is changed in the cloud. Exit code: 0, even if something is lost; 2
    the command line is invalid, 3 the cloud cannot be read.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        add_cloud(parser)
        parser.add_argument(
            'template', metavar='TEMPLATE',
            help='UUID or name of a cluster template in the cloud.')
        parser.add_argument(
            '--driver', required=True, choices=TRANSLATED,
            help='Driver that the new template is for.')
        parser.add_argument(
            '--image', metavar='IMAGE', required=True,
            help='ID or name of an image for Cluster API.')
        parser.add_argument(
            '--body', type=pathlib.Path, metavar='FILE',
            help='Also write the new template to this file, as JSON for POST '
                 '/v1/clustertemplates.')
        parser.set_defaults(fit_width=True)
        return parser

    def take_action(self, args: argparse.Namespace) -> base.Table:
        from magnum_capi.discovery import translate
        with base.quiet(self.app.options.debug):
            stored = _cloud(args, 'template').find_template(
                args.os_cloud, args.template)
        found = translate.translate(
            stored, args.driver, judge_of(args.driver), args.image,
            proxies=args.driver == OWN)
        if args.body:
            outfile.require_folder(args.body)
            with outfile.whole(args.body, outfile.PRIVATE) as stream:
                stream.write(json.dumps(found.template, indent=2).encode())
        return (('What', 'Name', 'Value', 'Becomes', 'Note'),
                [(row.what, row.name, row.value,
                  '(lost)' if row.becomes is None else row.becomes, row.note)
                 for row in found.rows])


def judge_of(driver: str) -> 'translate.Judge':
    """The function that says whether a driver takes a label.

    :param driver: one of :data:`TRANSLATED`.
    """
    return _judge_own if driver == OWN else _judge_helm


def _judge_own(name: str, value: str) -> str | None:
    from magnum_capi.driver.desired import label_registry
    label = label_registry.REGISTRY.get(name)
    if label is None:
        return 'the driver has no such label'
    kind = label.metadata['kind']
    try:
        kind.read(value)
    except ValueError as e:
        return f'the driver does not accept it: {e or kind.form}'
    return None


def _judge_helm(name: str, value: str) -> str | None:
    # It reads values with a default, not strictly.
    from magnum_capi.driver.desired import other_drivers
    return (None if name in other_drivers.HELM
            else 'the driver has no such label')


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


def _story(args: argparse.Namespace,
           catalog: 'model.Catalog') -> 'explain.Story | explain.StoredStory':
    from magnum_capi.discovery import explain
    from magnum_capi.discovery import model
    if args.property or args.image:
        if args.property:
            properties, subject = _once(args.property), 'an image'
        else:
            image = _cloud(args, 'image').find_image(args.os_cloud, args.image)
            properties, subject = image.raw, str(image)
        return explain.tell(
            subject, properties, model.Request(
                model.ImageProperties.of(properties), args.server_type,
                args.coe, args.driver), catalog)
    if args.template:
        return explain.tell_template(
            _cloud(args, 'template').find_template(
                args.os_cloud, args.template), catalog)
    cloud = _cloud(args, 'cluster')
    cluster, current = cloud.find_cluster(
        args.os_cloud, args.cluster or args.upgrade[0])
    if args.cluster:
        return explain.tell_cluster(cluster, current, catalog)
    return explain.tell_upgrade(
        cluster, current,
        cloud.find_template(args.os_cloud, args.upgrade[1]), catalog)


def _cloud(args: argparse.Namespace, what: str) -> types.ModuleType:
    """The module that reads clouds, if the user names one."""
    if not args.os_cloud:
        raise errors.UsageError(
            f'Cannot look up the {what}: no cloud is named',
            hint='Name it with --os-cloud or OS_CLOUD'
            + (', or the properties of the image with --property'
               if what == 'image' else ''))
    from magnum_capi.discovery import cloud
    return cloud


def _logged(args: argparse.Namespace) -> 'request_log.Entry':
    from magnum_capi.discovery import host
    from magnum_capi.discovery import model
    from magnum_capi.discovery import request_log
    logs = args.magnum_log or host.logs(args.config_file, args.config_dir)
    where = ', '.join(map(str, logs))
    try:
        entry = request_log.find(
            fileinput.input(logs, encoding='utf-8', errors='replace'),
            args.request)
    except OSError as e:
        raise errors.UsageError(
            'The log cannot be read', where=where, last_seen=e.strerror,
            hint='Name it with --magnum-log') from e
    if entry is None:
        raise errors.UsageError(
            'The log has no decision of the filter about '
            f'{model.shown(args.request)}',
            where=where, hint='The filter logs its decisions with level INFO; '
            'name older logs, or those of other hosts, with --magnum-log')
    return entry
