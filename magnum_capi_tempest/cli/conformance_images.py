# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance images``: a run without upstream registries."""

import json
import pathlib
import re

from magnum_capi.cli import base
from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import progress as progress_
from magnum_capi_tempest.conformance import lists
from magnum_capi_tempest.conformance.mirroring import plan
from magnum_capi_tempest.conformance.mirroring import registry
from magnum_capi_tempest.conformance.mirroring import suite as suite_
from magnum_capi_tempest.conformance import model

#: Host, port and path; nothing else, in particular no password.
_MIRROR = re.compile(r'([a-zA-Z0-9][a-zA-Z0-9.-]*(?::\d{1,5})?)'
                     r'(/[a-z0-9][a-z0-9._/-]*)?')


class Images(base.Judging):
    """List the images of a conformance run, and mirror them.

    Without --mirror, prints their names. With --mirror, prints the commands
    that copy them to that registry, and the command that runs the tests with
    them. With --check, says whether the mirror has them. Exit code: 0 no image
    is missing, 1 some are missing, 3 the mirror denied access or did not
    answer.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--kubernetes', metavar='vX.Y.Z', required=True,
            help='version of the cluster; its Go module k8s.io/kubernetes, '
                 '30 MB, is downloaded once through the module proxy')
        parser.add_argument(
            '--backend', default=model.SONOBUOY,
            choices=[model.SONOBUOY, model.HYDROPHONE],
            help=f'which program runs the tests (default: {model.SONOBUOY})')
        parser.add_argument(
            '--systemd-logs', action='store_true',
            help="include the image of Sonobuoy's plugin systemd-logs, which "
                 'plain "sonobuoy run" starts')
        parser.add_argument('--json', action='store_true',
                            help='print a JSON document instead of lines')
        group = parser.add_argument_group('mirror')
        group.add_argument('--mirror', metavar='REGISTRY',
                           help='host of the registry, with its port and '
                                'path, if any')
        group.add_argument(
            '--copy-with', choices=[*plan.TOOLS], default='skopeo',
            help='program that the commands use (default: skopeo); log in to '
                 'the registries with that program first')
        group.add_argument(
            '--repo-list', type=pathlib.Path, metavar='FILE',
            help='write the file for "conformance run --registry-mirrors" '
                 '(KUBE_TEST_REPO_LIST; --e2e-repo-config of Sonobuoy)')
        group.add_argument('--check', action='store_true',
                           help='check whether the mirror has each image')
        group.add_argument(
            '--docker-config', type=pathlib.Path, metavar='FILE',
            help='credentials for the mirror (default: config.json of '
                 '$DOCKER_CONFIG or ~/.docker, if that exists)')
        group.add_argument('--plain-http', action='store_true',
                           help='use HTTP, not HTTPS, for the mirror')
        return parser

    def act(self, args):
        host = _host(args)
        progress = progress_.Progress()
        file = lists.source(args.kubernetes, progress) / suite_.SOURCE
        wanted = plan.needed(
            args.kubernetes, suite_.parse(
                file.read_text(encoding='utf-8'), file),
            args.backend, args.systemd_logs)
        if args.repo_list:
            outfile.write_named(args.repo_list, plan.repo_list(
                wanted.suite, args.mirror))
        found = _ask(args, host, wanted, progress) if args.check else ()
        for line in (_document if args.json else _lines)(args, wanted, found):
            print(line, file=self.app.stdout)
        return _code(found)


def _host(args):
    """The host of the mirror, empty if there is none."""
    if not args.mirror:
        if args.check or args.repo_list:
            raise errors.UsageError('--check and --repo-list need a mirror',
                                    hint='Name it with --mirror')
        return ''
    match = _MIRROR.fullmatch(args.mirror)
    if not match:
        # Not quoted, as it may contain a password.
        raise errors.UsageError(
            'The value of --mirror is not a host with an optional port and '
            'path', hint='For example registry.example.org:5000/k8s; without '
            'https://, and without a user name and password, which are read '
            'from --docker-config')
    return match[1]


def _ask(args, host, wanted, progress):
    file = args.docker_config or registry.docker_config()
    login = (registry.login(file, host)
             if args.docker_config or file.is_file() else None)
    asked = registry.Registry(host, login, args.plain_http)
    with progress.step(f'asking {host} for {len(wanted.images)} images'):
        return tuple(asked.find(plan.mirrored(image, args.mirror))
                     for image in wanted.images)


def _lines(args, wanted, found):
    if found:
        for one in found:
            yield f'{one.state}: {one.image}' + (
                f' ({one.why})' if one.why else '')
        there = sum(one.state == registry.THERE for one in found)
        yield f'# The mirror has {there} of {len(found)} images'
    elif args.mirror:
        yield from plan.copies(wanted, args.mirror, args.copy_with)
        yield '# ' + plan.run(wanted, args.mirror, args.repo_list or 'FILE')
    else:
        yield from wanted.images
    for image in wanted.suite.special:
        yield (f'# Do not mirror {image}: tests expect that it cannot be '
               'pulled, or bring credentials for it')


def _document(args, wanted, found):
    yield json.dumps({
        'kubernetes': args.kubernetes, 'tools': wanted.tools,
        'images': wanted.images, 'special': wanted.suite.special,
        **({'mirror': {image: plan.mirrored(image, args.mirror)
                       for image in wanted.images},
            'run': plan.run(wanted, args.mirror, args.repo_list or 'FILE')}
           if args.mirror else {}),
        **({'found': {one.image: one.state for one in found}}
           if found else {})}, indent=1)


def _code(found):
    states = {one.state for one in found}
    if states - {registry.THERE, registry.MISSING}:
        return 3
    return 1 if registry.MISSING in states else 0
