# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver render``: the Helm values of a cluster."""

import argparse
import collections.abc
import json
import os
import pathlib
import typing

import yaml

from magnum_capi.cli import base
from magnum_capi import errors

if typing.TYPE_CHECKING:
    from magnum_capi.driver.gitops import rendering


class Render(base.Command):
    """Print the Helm values of a cluster, for Flux, Argo CD or Helm.

    The cluster is either described in a file, with the fields of Magnum's API,
    or exists in Magnum. Names of images and networks are looked up in a cloud,
    unless the file has a section "cloud". Nothing is changed anywhere, and no
    credentials are printed: the values refer to Secrets, which must be created
    by other means.

    Exit code: 0 success, 1 the cloud did not answer or the chart rejected the
    values, 2 the description or the configuration is invalid, 3 helm is
    missing (--manifests).
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        subject = parser.add_mutually_exclusive_group(required=True)
        subject.add_argument(
            'file', nargs='?', type=pathlib.Path, metavar='FILE',
            help='File that describes the cluster, as YAML or JSON.')
        subject.add_argument(
            '--cluster', metavar='UUID',
            help='UUID of a cluster in Magnum.')
        parser.add_argument(
            '--manifests', action='store_true',
            help='Print the manifests that Helm renders instead of the '
                 'values.')
        parser.add_argument(
            '-f', '--format', choices=('yaml', 'json'), default='yaml',
            help='Format of the values; yaml begins with comments (default: '
                 'yaml).')
        parser.add_argument(
            '--os-cloud', metavar='NAME', default=os.environ.get('OS_CLOUD'),
            help='Cloud in clouds.yaml to look names up in (default: '
                 'OS_CLOUD).')
        base.add_config_file(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        try:
            from magnum_capi.driver.gitops import by_hand
        except ImportError as e:
            raise errors.EnvironmentProblem(
                'The libraries of the driver are not installed',
                last_seen=e,
                hint="Run this command in Magnum's Python environment"
            ) from None
        settings, defaults = by_hand.configuration(args.config_file)
        if args.cluster:
            found = by_hand.of_magnum(
                args.cluster, args.os_cloud, settings, defaults)
        else:
            found = by_hand.of_description(
                _read(args.file), args.os_cloud, settings, defaults)
        if args.manifests:
            text = by_hand.manifests(found, settings)
        elif args.format == 'json':
            text = json.dumps(found.values, indent=2)
        else:
            text = '\n'.join((*_head(found), yaml.safe_dump(
                found.values, sort_keys=False, allow_unicode=True)))
        print(text.rstrip(), file=self.app.stdout)


def _read(path: pathlib.Path) -> typing.Any:
    try:
        return yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, ValueError) as e:
        raise errors.UsageError('The description cannot be read',
                                where=path, last_seen=e) from None
    except yaml.YAMLError as e:
        mark = getattr(e, 'problem_mark', None)
        place = f'{path}:{mark.line + 1}' if mark else path
        raise errors.UsageError(
            'The description is neither YAML nor JSON', where=place,
            last_seen=getattr(e, 'problem', None)) from None


def _head(found: 'rendering.Rendered') -> collections.abc.Iterator[str]:
    yield f'# Release {found.release} in the namespace {found.namespace}'
    yield f'# Chart {found.chart}'
    yield (f'# The Secret {found.credentials} with clouds.yaml and cacert is '
           'not included')
    for name in found.server_groups:
        yield (f'# The server group {name} is not created; an overlay can '
               'name one (serverGroupId)')
    if found.registries:
        yield (f'# The Secret {found.registries} with the contents of '
               'registries_file is not included')
    if found.proxies:
        yield (f'# The Secret {found.proxies} with 50-proxy.conf is not '
               'included')
