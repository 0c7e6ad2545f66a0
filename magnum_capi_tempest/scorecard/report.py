# SPDX-License-Identifier: Apache-2.0

"""A ``DriverReport``: what one run of the suite shows about a driver.

It is a document, which ``report.schema.json`` describes. Promises are judged
when it is created; reading it requires neither the run nor this version of the
suite.
"""

import collections.abc
import importlib.resources
import json
import typing

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_tempest import promises
from magnum_capi_tempest.report import model
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import results
from magnum_capi_tempest import texts

API_VERSION = 'conformance.magnum-capi/v1'
KIND = 'DriverReport'

#: The document; see the schema.
Report: typing.TypeAlias = dict[str, typing.Any]

#: Most characters of a problem.
_LONGEST = 500

#: Fields that are copied from the description of a driver.
_OF_DRIVER = ('name', 'organization', 'project', 'url', 'contact', 'chart')


def of_driver(described: driver_info.Description | None, name: str
              ) -> dict[str, typing.Any]:
    """The part of a report that describes the driver."""
    if not described:
        return {'name': name, 'described': False}
    return {**{key: described.document[key] for key in _OF_DRIVER
               if key in described.document},
            **({'distribution': described.distribution}
               if described.distribution else {}), 'described': True}


def of_run(run: model.Run, digest: str, about: dict[str, typing.Any],
           described: driver_info.Description | None,
           versions: dict[str, str], nodes: str, asked: tuple[str, ...],
           problems: typing.Iterable[str] = ()) -> Report:
    """Judge a recorded run.

    :param digest: of its stream, with the prefix "sha256:".
    :param about: see :func:`of_driver`.
    :param versions: of suite, Magnum, Cluster API, Kubernetes ...
    :param nodes: "memory", "container" or "server".
    :param asked: profiles whose tests were requested.
    :param problems: why the run cannot be trusted, in addition to its own.
    """
    outcomes = results.outcomes(run)
    return document({
        'driver': about,
        'versions': versions,
        'nodes': nodes,
        'date': (run.started.isoformat(timespec='seconds')
                 if run.started else ''),
        'seconds': round(run.seconds, 1),
        'stream': digest,
        'promises': judge.judge(outcomes, described,
                                magnum=versions.get('magnum', '')),
        'magnum': judge.of_magnum(outcomes),
        'problems': list(dict.fromkeys((
            *run.problems, *_cut_off(run), *problems))),
    }, asked)


def document(measured: dict[str, typing.Any],
             asked: typing.Iterable[str]) -> Report:
    """A report of what was measured, with everything that follows from it.

    :param asked: see :func:`of_run`.
    """
    return {'apiVersion': API_VERSION, 'kind': KIND, **judge.totals(
        measured['promises'], asked, measured['problems']), **measured}


def _cut_off(run: model.Run) -> collections.abc.Iterator[str]:
    """A problem, if tests of a run have not ended."""
    number = run.counts.get(model.UNFINISHED, 0)
    if number:
        yield (f'{texts.number(number, "test")} did not end: the run was '
               'interrupted, or a worker was killed, for example for lack of '
               'memory')


def schema() -> dict[str, typing.Any]:
    found: dict[str, typing.Any] = json.loads(
        importlib.resources.files(__package__).joinpath(
            'report.schema.json').read_text(encoding='utf-8'))
    return found


def problems(found: typing.Any) -> list[str]:
    """The problems of a document, a line each.

    Values that follow from its promises are recalculated: a verdict that does
    not match them is wrong.
    """
    wrong = driver_info.unfit(found, schema())
    if wrong:
        # jsonschema quotes what does not fit, however long it is.
        return [texts.line(one, _LONGEST) for one in wrong]
    again = judge.totals(
        found['promises'], found['profiles'], found['problems'])
    return [
        *(f'$.promises: there is no promise {key}'
          for key in found['promises'] if key not in promises.known()),
        *(f'$.{key}: {json.dumps(found[key])}, and the promises give '
          f'{json.dumps(value)}'
          for key, value in again.items() if found[key] != value)]


def parse(text: str, where: object = None) -> typing.Any:
    """Read JSON, whatever somebody has sent.

    :raises UsageError: it is not JSON, or nested too deeply.
    """
    def refuse(constant: str) -> None:
        raise ValueError(f'{constant} is not a number of JSON')

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as e:
        raise errors.UsageError('The file is not JSON', where=where,
                                last_seen=e) from None


def loads(text: str, where: object = None) -> Report:
    """Read a report.

    :raises UsageError: it is not a report, or its verdict does not match its
        promises.
    """
    found = parse(text, where)
    wrong = problems(found)
    if wrong:
        raise errors.UsageError(
            f'The file is not a {KIND}',
            where=where, last_seen='; '.join(wrong[:3]),
            hint='"magnum-capi report validate" lists all problems')
    return typing.cast(Report, found)
