# SPDX-License-Identifier: Apache-2.0

"""The repositories of the tenant: ours, and stand-ins for all others."""

import getpass
import pathlib
import shutil

import yaml

from magnum_capi import processes
from tests.unit.zuul import jobs
from tests.zuul import site as sites

_HERE = pathlib.Path(__file__).resolve().parent

#: The label of our smallest nodeset, which the node of this run has.
LABEL = 'ubuntu-noble'


def named() -> set[str]:
    """Other projects that our jobs name."""
    found = {project for job in jobs.bodies('job')
             for project in job.get('required-projects', ())}
    found |= {role['zuul'] for job in jobs.bodies('job')
              for role in job.get('roles', ())}
    return found - {sites.OURS}


def make(site, chosen) -> tuple[str, str]:
    """Make all of them.

    :param chosen: names of jobs that the pipeline "manual" has.
    :returns: two commits of ours, the first of all, and the work tree as far
        as git knows it: between them every file has changed, so that no job
        is left out.
    """
    for project in named():
        _commit(site.git / project)
    config = site.git / sites.CONFIG
    shutil.copytree(_HERE / 'config', config)
    (config / 'zuul.d/generated.yaml').write_text(yaml.safe_dump(
        [*_nodes(site), *_templates(),
         {'project': {'name': sites.OURS, 'manual': {'jobs': list(chosen)}}}]))
    _commit(config)
    ours = site.git / sites.OURS
    processes.run(['git', 'init', '-q', '-b', 'master', ours], timeout=60)
    # It has a work tree that nobody looks at.
    _git(ours, 'config', 'receive.denyCurrentBranch', 'ignore')
    commit = (_git(jobs.TOP, *_AUTHOR, 'stash', 'create').strip()
              or _git(jobs.TOP, 'rev-parse', 'HEAD').strip())
    _git(jobs.TOP, 'push', '-q', ours, f'{commit}:refs/heads/master')
    first = _git(jobs.TOP, 'rev-list', '--max-parents=0', commit)
    return first.split()[-1], commit


_AUTHOR = ('-c', 'user.name=Zuul', '-c', 'user.email=zuul@example.org')


def _git(folder, *words):
    return processes.run(['git', '-C', folder, *words], timeout=300)


def _commit(folder):
    folder.mkdir(parents=True, exist_ok=True)
    _git(folder, 'init', '-q', '-b', 'master')
    _git(folder, 'add', '-A')
    _git(folder, *_AUTHOR, 'commit', '-q', '--allow-empty', '-m', 'All of it')


def _nodes(site):
    """Providers and labels; the large label has no node here."""
    labels = sorted({node['label'] for nodeset in jobs.bodies('nodeset')
                     for node in nodeset['nodes']})
    image = {'name': 'here', 'username': getpass.getuser(),
             'connection-port': sites.SSH, 'python-path': '/usr/bin/python3'}
    return [
        {'image': {'name': 'here', 'type': 'cloud'}},
        {'flavor': {'name': 'here'}},
        *({'label': {'name': label, 'image': 'here', 'flavor': 'here'}}
          for label in labels),
        {'section': {'name': 'static', 'connection': 'static',
                     'images': [image], 'flavors': [{'name': 'here'}]}},
        {'provider': {
            'name': 'here', 'section': 'static', 'labels': [{'name': LABEL}],
            'nodes': [{'name': site.address, 'label': LABEL,
                       'username': getpass.getuser(),
                       'connection-port': sites.SSH,
                       'host-key': site.host_key}]}}]


def _templates():
    """Those of OpenStack that the project names, without jobs."""
    project, = jobs.bodies('project')
    return [{'project-template': {'name': name}}
            for name in project.get('templates', ())]
