# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver``: what the driver k8s_capi_v1 does, by hand."""

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
    """Print the Helm values of a cluster, for Flux, Argo or by hand.

    The cluster is described in a file, with the fields of Magnum's API, or is
    one that Magnum has. Names of images and networks are looked up in a
    cloud, unless the file has a section "cloud". Nothing is changed anywhere,
    and no credentials are printed: the values name Secrets, which have to be
    made by other means.

    Exit code: 0 it is printed, 2 the description or the configuration is
    wrong, 1 the cloud did not answer or the chart refuses, 3 there is no helm
    (--manifests).
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        subject = parser.add_mutually_exclusive_group(required=True)
        subject.add_argument(
            'file', nargs='?', type=pathlib.Path, metavar='FILE',
            help='Description, YAML or JSON.')
        subject.add_argument(
            '--cluster', metavar='UUID', help='A cluster that Magnum has.')
        parser.add_argument(
            '--manifests', action='store_true',
            help='Print what Helm makes of the values, instead of them.')
        parser.add_argument(
            '-f', '--format', choices=('yaml', 'json'), default='yaml',
            help='Form of the values; yaml by default, with comments first.')
        parser.add_argument(
            '--os-cloud', metavar='NAME', default=os.environ.get('OS_CLOUD'),
            help='Cloud in clouds.yaml to look at (default: OS_CLOUD).')
        base.add_config_file(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        try:
            from magnum_capi.driver.gitops import by_hand
        except ImportError as e:
            raise errors.EnvironmentProblem(
                'The libraries of the driver are not installed',
                last_seen=e, hint='Run it in the environment of Magnum'
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
           'not in here')
    for name in found.server_groups:
        yield (f'# The server group {name} is not made; an overlay can name '
               'one (serverGroupId)')
    if found.registries:
        yield (f'# The Secret {found.registries} with what registries_file '
               'says is not in here')
    if found.proxies:
        yield (f'# The Secret {found.proxies} with 50-proxy.conf is not in '
               'here')
