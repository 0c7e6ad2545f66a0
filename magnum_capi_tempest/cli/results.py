# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.
"""A record's verdict, printed. Imports what it needs when it needs it."""

import sys


def show(record, *, as_json=False, verified=False, kubernetes='', keep=False,
         stream=None):
    """Print a record's verdict; returns the exit code.

    :param stream: text stream, standard output by default.
    """
    stream = stream or sys.stdout
    from magnum_capi_tempest.conformance.record import beside
    result = beside.load(record)
    if result is None:
        result = _read(record, verified, kubernetes, keep)
    from magnum_capi_tempest.conformance import required
    from magnum_capi_tempest.conformance.showing import lines
    from magnum_capi_tempest.conformance import verdict as verdicts
    verdict = verdicts.judge(
        result, required.names(result.cluster.kubernetes))
    if as_json:
        import json
        json.dump(lines.document(result, verdict), stream, indent=1)
        print(file=stream)
    else:
        _print(lines.lines(result, verdict), stream)
    return verdict.exit_code


def _read(record, verified, kubernetes, keep):
    # What reads archives takes longer to import than a sidecar to read.
    from magnum_capi_tempest.conformance.record import reading
    result = reading.find(record, verified=verified, kubernetes=kubernetes)
    if keep and result.whole and result.sha256:
        from magnum_capi_tempest.conformance.record import sidecar
        sidecar.write(result, result.source)
    return result


def _print(pairs, stream):
    if not stream.isatty():
        for line, _ in pairs:
            print(line, file=stream)
        return
    # Imported only where there are colours to show.
    import rich.console
    from rich.text import Text
    console = rich.console.Console(file=stream, highlight=False)
    for line, style in pairs:
        console.print(Text(line, style=style), soft_wrap=True)
