# SPDX-License-Identifier: Apache-2.0

"""Reads what Zuul and Ansible would read: jobs, playbooks, roles; pure."""

import functools
import pathlib

from jinja2 import meta
from jinja2 import sandbox
import yaml

TOP = pathlib.Path(__file__).resolve().parents[3]

#: What Ansible and Zuul define.
GIVEN = {'ansible_check_mode', 'ansible_facts', 'ansible_user_dir', 'item',
         'omit', 'zuul'}

_ENVIRONMENT = sandbox.SandboxedEnvironment()
# Of Ansible. Templates are parsed here, not rendered.
_ENVIRONMENT.filters.update(dict.fromkeys((
    'basename', 'dirname', 'flatten', 'product', 'quote', 'regex_replace',
    'relpath', 'ternary'), str))
_ENVIRONMENT.tests.update(dict.fromkeys(('changed', 'succeeded'), bool))


@functools.cache
def load(path):
    return yaml.safe_load((TOP / path).read_text())


@functools.cache
def _items():
    return [(kind, body) for path in sorted(TOP.glob('zuul.d/*.yaml'))
            for item in load(path) for kind, body in item.items()]


def bodies(kind):
    return [body for found, body in _items() if found == kind]


def jobs():
    return {job['name']: job for job in bodies('job')}


def chain(name, known):
    """A job and its ancestors of this repository, the eldest first."""
    found = []
    while name in known:
        found.insert(0, known[name])
        name = known[name]['parent']
    return found


def variables(name, known):
    """All variables of a job."""
    return _merged(job.get('vars', {}) for job in chain(name, known))


def _merged(dicts):
    """As Zuul merges the variables of a job with its parent's."""
    out = {}
    for one in dicts:
        for name, value in one.items():
            if isinstance(value, dict) and isinstance(out.get(name), dict):
                value = _merged([out[name], value])
            out[name] = value
    return out


def playbooks(name, known):
    """Paths of all playbooks of a job that are in this repository."""
    lineage = chain(name, known)
    runs = [job['run'] for job in lineage if 'run' in job][-1:]
    return [*runs, *(job[when] for job in lineage
                     for when in ('pre-run', 'post-run') if when in job)]


def tasks(node):
    """All tasks in a playbook or a file of tasks."""
    for item in node:
        for key in ('tasks', 'block', 'always', 'rescue'):
            yield from tasks(item.get(key, ()))
        if 'hosts' not in item and 'block' not in item:
            yield item


def roles():
    """Names of our roles."""
    return sorted(path.name for path in (TOP / 'roles').iterdir())


def arguments(role):
    spec = load(f'roles/{role}/meta/argument_specs.yaml')
    return spec['argument_specs']['main']['options']


def roles_of(playbook):
    """Names of the roles of a playbook."""
    plays = load(playbook)
    return {role for play in plays for role in play.get('roles', ())} | {
        task['ansible.builtin.include_role']['name'] for task in tasks(plays)
        if 'ansible.builtin.include_role' in task}


def words_in(value):
    """All strings in nested lists and dicts, keys too."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from words_in(name)
            yield from words_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from words_in(inner)
    elif isinstance(value, str):
        yield value


def names_in(value):
    """Names of the variables that templates in a value read."""
    return {name for text in words_in(value) if '{{' in text or '{%' in text
            for name in meta.find_undeclared_variables(
                _ENVIRONMENT.parse(text))}


def upstream():
    """Names that other projects define."""
    return load('tests/unit/zuul/upstream.yaml')


def settings():
    """Settings of our plugin of devstack, with their values."""
    return dict(line.split('=', 1) for line in (
        TOP / 'devstack/settings').read_text().splitlines()
        if line.partition('=')[0].isidentifier())
