# SPDX-License-Identifier: Apache-2.0

"""What Zuul must make of our jobs; pure but for links that are opened.

The unit tests of zuul.d merge variables and playbooks of a job and its
parents by themselves (tests.unit.zuul.content): here their model is held
against Zuul's.
"""

import functools
import pathlib
import urllib.parse
import urllib.request

import yaml

from tests.unit.zuul import content

#: Jobs of the stand-in for other repositories.
PROOFS = pathlib.Path(__file__).with_name('config') / 'zuul.d/jobs.yaml'

PIPELINES = ('check', 'gate', 'periodic')

#: Roles that link a report from the result of their job.
_LINKING = {'run-conformance', 'run-magnum-capi-tempest'}


@functools.cache
def known() -> dict[str, dict]:
    """Our jobs and the stand-ins, by name."""
    return {**{item['job']['name']: item['job']
               for item in yaml.safe_load(PROOFS.read_text())},
            **content.jobs()}


def in_pipeline(name) -> list[str]:
    """Names of the jobs that the project has in a pipeline."""
    project, = content.bodies('project')
    return [job if isinstance(job, str) else next(iter(job))
            for job in project[name]['jobs']]


def runnable() -> list[str]:
    """The stand-ins, which are quick, and jobs of check without devstack."""
    return [name for name in known() if name.startswith('proof-')] + [
        name for name in in_pipeline('check')
        if 'devstack-tempest' not in lineage(name)]


def lineage(name) -> set[str]:
    """Names of a job and all its ancestors."""
    found = set()
    while name:
        found.add(name)
        name = known()[name]['parent']
    return found


def result(name) -> str:
    """What Zuul has to say of a job in the end."""
    return 'FAILURE' if name.endswith('-failure') else 'SUCCESS'


def frozen_problems(name, job) -> list[str]:
    """What is wrong with a job as Zuul would run it.

    :param job: the answer to freeze-job.
    """
    ours = content.jobs()
    out = [f'{variable}: is {job["vars"].get(variable)!r}, expected {value!r}'
           for variable, value in content.variables(name, ours).items()
           if job['vars'].get(variable) != value]
    if not 0 < (job['timeout'] or 0) <= content.MAX_JOB_TIMEOUT:
        out.append(f'timeout: {job["timeout"]}')
    books = {found['path'] for when in ('pre_playbooks', 'playbooks',
                                        'post_playbooks')
             for found in job[when]}
    out += [f'{path}: is not run' for path in content.playbooks(name, ours)
            if path not in books]
    labels = {node['label'] for nodeset in content.bodies('nodeset')
              for node in nodeset['nodes']}
    out += [f'{node["label"]}: no label of ours'
            for node in job['nodeset']['nodes']
            if node['label'] not in labels]
    return out


def build_problems(build) -> list[str]:
    """What is wrong with a build that has ended.

    :param build: as the API lists it.
    """
    name = build['job_name']
    out = []
    if build['result'] != result(name):
        detail = build.get('error_detail')
        out.append(f'{build["result"]}, expected {result(name)}'
                   + (f': {detail}' if detail else ''))
    links = [found['url'] for found in build['artifacts']]
    if not links and _LINKING & {
            role for book in content.playbooks(name, known())
            if (content.TOP / book).exists()
            for role in content.roles_of(book)}:
        out.append('no report is linked')
    if build['log_url']:
        links.append(f'{build["log_url"]}job-output.txt')
    else:
        out.append('no log is linked')
    return out + [problem for link in links for problem in _broken(
        urllib.parse.urljoin(build['log_url'] or '', link))]


def _broken(link):
    try:
        with urllib.request.urlopen(link, timeout=60) as response:
            if not response.read(1):
                yield f'{link} is empty'
    except (OSError, ValueError) as e:
        yield f'{link} does not open: {e}'
