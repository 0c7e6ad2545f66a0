# SPDX-License-Identifier: Apache-2.0

"""Which jobs a run of Zuul can do, and how each of them has to end."""

import functools
import json
import pathlib
import urllib.parse
import urllib.request

import yaml

from tests.unit.zuul import jobs

#: Jobs of the stand-in for other repositories.
PROOFS = pathlib.Path(__file__).with_name('config') / 'zuul.d/jobs.yaml'

PIPELINES = ('check', 'gate', 'periodic-weekly')

#: Jobs whose children link a report.
_REPORTING = {'magnum-capi-conformance-chart', 'magnum-capi-driver-test',
              'magnum-capi-sandbox'}


@functools.cache
def known() -> dict[str, dict]:
    """Our jobs and the stand-ins, by name."""
    return {**{item['job']['name']: item['job']
               for item in yaml.safe_load(PROOFS.read_text())},
            **jobs.jobs()}


def usual() -> list[str]:
    """The stand-ins, which are quick, and what can be run of check."""
    return _runnable('check')


def runnable() -> list[str]:
    """All that can be run, the usual ones in front."""
    return [*dict.fromkeys(_runnable(*PIPELINES))]


def _runnable(*pipelines):
    project, = jobs.bodies('project')
    return [name for name in known() if name.startswith('proof-')] + [
        name for pipeline in pipelines for job in project[pipeline]['jobs']
        for name in ([job] if isinstance(job, str) else job)
        if 'devstack-tempest' not in _lineage(name) and not _is_root(name)]


def _is_root(name):
    """Whether a job takes rights that nobody has on the node of a run."""
    # Dumped again, without its comments.
    return any('become' in yaml.safe_dump(jobs.load(book))
               for book in jobs.playbooks(name, jobs.jobs()))


def _lineage(name):
    """Names of a job and all its ancestors."""
    found = set()
    while name:
        found.add(name)
        name = known()[name]['parent']
    return found


def problems(build) -> list[str]:
    """What is wrong with a build that has ended.

    :param build: as Zuul's API lists it.
    """
    name, logs = build['job_name'], build['log_url']
    wanted = known()[name].get('vars', {}).get('proof_failure')
    result = 'FAILURE' if wanted else 'SUCCESS'
    out = []
    if build['result'] != result:
        out.append(f'{build["result"]}, expected {result}: '
                   f'{build.get("error_detail")}')
    if not logs:
        return [*out, 'no log is linked: see the logs of Zuul']
    links = [found['url'] for found in build['artifacts']]
    if not links and _REPORTING & _lineage(name):
        out.append('no report is linked')
    try:
        failed = _failed(json.loads(_read(logs, 'job-output.json')))
        for link in links:
            _read(logs, link)
    except (OSError, ValueError) as e:
        return [*out, f'{logs}: {e}']
    if failed != [wanted] * bool(wanted):
        out.append(f'tasks failed: {failed}, expected: {wanted}')
    return out


def _failed(output):
    """Tasks that failed, those that were rescued among them.

    :param output: job-output.json, of Zuul's callback zuul_json.
    """
    return [task['task']['name'] for book in output for play in book['plays']
            for task in play['tasks'] for result in task['hosts'].values()
            if result.get('failed') or result.get('unreachable')]


def _read(logs, link):
    with urllib.request.urlopen(
            urllib.parse.urljoin(logs, link), timeout=60) as response:
        return response.read()
