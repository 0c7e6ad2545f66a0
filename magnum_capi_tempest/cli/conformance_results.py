# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi conformance results``: the verdict on an archive."""

import sys

from magnum_capi.cli import base


class Results(base.Judging):
    """Check the results of a conformance run and print the verdict.

    Reads a Sonobuoy archive without unpacking it, or the files that Hydrophone
    writes. Exit code: 0 passed, 1 failed, 2 wrong usage, such as a record
    that does not exist, 3 incomplete, the harness failed, or the record cannot
    be read.
    """

    def get_parser(self, prog_name):
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'record', metavar='ARCHIVE|FOLDER',
            help='An archive, or a folder with an archive or with '
                 'junit_01.xml and e2e.log.')
        parser.add_argument(
            '--json', action='store_true',
            help='Print a JSON document instead of lines.')
        parser.add_argument(
            '--no-verify', action='store_true',
            help='Stop reading after the results of the e2e tests, instead of '
                 'checking the whole archive; for an archive that was checked '
                 'before. Such a result is not eligible for certification.')
        parser.add_argument(
            '--kubernetes-version', metavar='VERSION', default='',
            help='Kubernetes version of the cluster, for files of Hydrophone, '
                 'which do not record it.')
        return parser

    def act(self, args):
        return show(args.record, as_json=args.json, verified=args.no_verify,
                    kubernetes=args.kubernetes_version)


def show(record, *, as_json=False, verified=False, kubernetes='',
         stream=None):
    """Print a record's verdict; return the exit code.

    :param stream: text stream, standard output by default.
    """
    stream = stream or sys.stdout
    from magnum_capi_tempest.conformance.reports import lines
    from magnum_capi_tempest.conformance import required
    from magnum_capi_tempest.conformance.results import reading
    from magnum_capi_tempest.conformance import verdict as verdicts
    result = reading.find(record, verified=verified, kubernetes=kubernetes)
    verdict = verdicts.judge(
        result, required.of(result.cluster.kubernetes))
    if as_json:
        import json
        json.dump(lines.document(result, verdict), stream, indent=1)
        print(file=stream)
    else:
        _print(lines.lines(result, verdict), stream)
    return verdict.exit_code


def _print(pairs, stream):
    if not stream.isatty():
        for line, _ in pairs:
            print(line, file=stream)
        return
    # Imported only if there are colours to show.
    import rich.console
    from rich.text import Text
    console = rich.console.Console(file=stream, highlight=False)
    for line, style in pairs:
        console.print(Text(line, style=style), soft_wrap=True)
