# SPDX-License-Identifier: Apache-2.0

"""What Zuul must make of our jobs; pure.

The unit tests of zuul.d merge variables and playbooks of a job and its
parents by themselves (tests.unit.zuul.content): here their model is held
against Zuul's.
"""

import functools
import pathlib

import yaml

from tests.unit.zuul import content

#: Jobs of the stand-in for other repositories.
PROOFS = pathlib.Path(__file__).with_name('config') / 'zuul.d/jobs.yaml'

PIPELINES = ('check', 'gate', 'periodic-weekly')


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


def usual() -> list[str]:
    """The stand-ins, which are quick, and what can be run of check."""
    return _runnable('check')


def runnable() -> list[str]:
    """All that can be run, the usual ones in front."""
    return [*dict.fromkeys(_runnable(*PIPELINES))]


def _runnable(*pipelines):
    return [name for name in known() if name.startswith('proof-')] + [
        name for pipeline in pipelines for name in in_pipeline(pipeline)
        if 'devstack-tempest' not in lineage(name) and not _is_root(name)]


def _is_root(name):
    """Whether a job takes rights that nobody has on the node of a run."""
    return any(becomes((content.TOP / book).read_text())
               for book in content.playbooks(name, content.jobs()))


def becomes(playbook) -> bool:
    """Whether a playbook names another user anywhere, comments aside.

    :param playbook: its text.
    """
    return 'become' in yaml.safe_dump(yaml.safe_load(playbook))


def lineage(name) -> set[str]:
    """Names of a job and all its ancestors."""
    found = set()
    while name:
        found.add(name)
        name = known()[name]['parent']
    return found


def result(name) -> str:
    """What Zuul has to say of a job in the end."""
    return 'FAILURE' if failure(name) else 'SUCCESS'


def failure(name) -> tuple[str, str, int] | None:
    """The task that must fail, None: none.

    :returns: phase, name and exit code; a job of the stand-in has them as a
        variable.
    """
    found = known()[name].get('vars', {}).get('proof_failure')
    return found and ('run', found['task'], found['rc'])


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
