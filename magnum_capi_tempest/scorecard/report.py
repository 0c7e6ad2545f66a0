# SPDX-License-Identifier: Apache-2.0

"""``DriverReport``: what one run of the suite shows about a driver, as a file.

``report.schema.json`` describes its content. Promises are judged when a report
is created; reading one requires neither the run nor this version of the suite.
"""

import dataclasses
import importlib.resources
import json
import typing

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_tempest import promises
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import model
from magnum_capi_tempest.scorecard import judge
from magnum_capi_tempest.scorecard import results
from magnum_capi_tempest import texts

API_VERSION = 'conformance.magnum-capi/v1'
KIND = 'DriverReport'

#: Fields that are copied from the description of a driver.
_OF_DRIVER = ('name', 'organization', 'project', 'url', 'contact', 'chart')


@dataclasses.dataclass(frozen=True)
class Report:
    """What a run shows about a driver.

    :param driver: its own description, and its distribution.
    :param versions: of suite, Magnum, Cluster API, Kubernetes ...
    :param nodes: "memory", "container" or "server".
    :param started: ISO 8601.
    :param stream: "sha256:" and the digest of the recorded run.
    :param asked: profiles whose tests were requested.
    :param promises: by id.
    :param problems: why the run itself cannot be trusted.
    """

    driver: dict[str, typing.Any]
    versions: dict[str, str]
    nodes: str
    started: str
    seconds: float
    stream: str
    asked: tuple[str, ...]
    promises: dict[str, judge.Judgement]
    magnum: judge.Magnum
    problems: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.driver['name'])

    @property
    def profiles(self) -> dict[str, judge.Profile]:
        """The requested profiles."""
        return {name: one for name, one
                in judge.profiles(self.promises).items()
                if name in self.asked}

    @property
    def verdict(self) -> str:
        """Of all requested profiles: see :func:`.judge.verdict`."""
        return judge.verdict({
            key: one for key, one in self.promises.items()
            if key.partition('.')[0] in self.asked}, self.problems)

    @property
    def statistics(self) -> dict[str, int]:
        """Numbers of promises by state, in the requested profiles."""
        return {state: sum(part[state] for one in self.profiles.values()
                           for part in (one.core, one.extended))
                for state in judge.STATES}

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        found = self.profiles
        said = ', '.join(f'{name} {one.state}' for name, one in found.items())
        what = {judge.PASSED: 'passes core', judge.FAILED: 'fails core',
                judge.UNTESTED: 'did not complete core'}[self.verdict]
        return f'{self.name} {what} ({said})'


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
    """Judge a recorded run by this version's promises.

    :param digest: of its stream, with the prefix "sha256:".
    :param about: see :func:`of_driver`.
    :param problems: in addition to those of the run itself.
    """
    found = judge.judge(results.outcomes(run), described,
                        magnum=versions.get('magnum', ''))
    return Report(
        about, versions, nodes,
        run.started.isoformat(timespec='seconds') if run.started else '',
        round(run.seconds, 1), digest, asked, found.promises, found.magnum,
        tuple(dict.fromkeys((*run.problems, *_cut_off(run), *problems))))


def _cut_off(run):
    """A problem, if tests of a run have not ended."""
    number = run.counts.get(model.UNFINISHED, 0)
    if number:
        yield (f'{texts.number(number, "test")} did not end: the run was '
               'interrupted, or a worker was killed, for example for lack of '
               'memory')


def document(report: Report) -> dict[str, typing.Any]:
    """A report in the form of its file."""
    return {
        'apiVersion': API_VERSION,
        'kind': KIND,
        'driver': report.driver,
        'versions': report.versions,
        'nodes': report.nodes,
        'date': report.started,
        'seconds': report.seconds,
        'stream': report.stream,
        'verdict': report.verdict,
        'statistics': report.statistics,
        'profiles': {name: dataclasses.asdict(one)
                     for name, one in report.profiles.items()},
        'promises': {key: {name: value for name, value
                           in _plain(one).items() if value}
                     for key, one in report.promises.items()},
        'magnum': _plain(report.magnum),
        'problems': list(report.problems),
    }


def _plain(one):
    """A dataclass in the form of JSON: lists, not tuples."""
    return {name: list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(one).items()}


def dumps(report: Report) -> str:
    return json_.dumps(document(report))


def schema() -> dict[str, typing.Any]:
    return json.loads(importlib.resources.files(__package__).joinpath(
        'report.schema.json').read_text(encoding='utf-8'))


def problems(found: typing.Any) -> list[str]:
    """The problems of a document, a line each.

    Values that follow from its promises are recalculated: a verdict that does
    not match them is wrong.
    """
    wrong = driver_info.unfit(found, schema())
    if wrong:
        return wrong
    wrong = [f'$.promises: there is no promise {key}'
             for key in found['promises'] if key not in promises.known()]
    again = document(_report(found))
    return wrong + [
        f'$.{key}: {json.dumps(found[key])}, and the promises give '
        f'{json.dumps(again[key])}'
        for key in ('verdict', 'statistics', 'profiles')
        if found[key] != again[key]]


def loads(text: str, where: object = None, counted: bool = True) -> Report:
    """Read a report.

    :param counted: its verdict must match its promises.
    :raises UsageError: it is not a report.
    """
    try:
        found = json.loads(text)
    except ValueError as e:
        raise errors.UsageError('The file is not JSON', where=where,
                                last_seen=e) from None
    wrong = (problems(found) if counted
             else driver_info.unfit(found, schema()))
    if wrong:
        raise errors.UsageError(
            f'The file is not a {KIND}',
            where=where, last_seen='; '.join(wrong[:3]),
            hint='"magnum-capi report validate" lists all problems')
    return _report(found)


def _report(found):
    return Report(
        found['driver'], found['versions'], found['nodes'], found['date'],
        found['seconds'], found['stream'], tuple(found['profiles']),
        {key: judge.Judgement(
            one['state'], one.get('said', ''), tuple(one.get('tests', ())),
            one.get('known_issue', ''), one.get('absent', False))
         for key, one in found['promises'].items()},
        judge.Magnum(found['magnum']['passed'], found['magnum']['skipped'],
                     tuple(found['magnum']['failures'])),
        tuple(found['problems']))
