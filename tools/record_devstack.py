# SPDX-License-Identifier: Apache-2.0

"""Records names that devstack defines, for the tests of our devstack plugin.

    python tools/record_devstack.py DEVSTACK TEMPEST MAGNUM

Writes ``tests/unit/zuul/devstack.yaml`` from the committed state of checkouts
of openstack/devstack, openstack/tempest and openstack/magnum: names of
functions and variables by the file that defines them, variables that have a
value before a plugin's defaults are read, the files that each script sources,
the phases that it runs, and the files that jobs copy into public logs.
"""

import argparse
import pathlib
import posixpath
import re
import sys

import yaml

from magnum_capi import processes

TARGET = (pathlib.Path(__file__).resolve().parents[1]
          / 'tests/unit/zuul/devstack.yaml')

SCRIPTS = ('stack.sh', 'unstack.sh', 'clean.sh')

#: Sourced by ``run_phase``, where the name is not literal.
EXTRA = 'extras.d/80-tempest.sh'

#: The parent of our jobs, and its ancestors.
JOBS = ('devstack-base', 'devstack-minimal', 'devstack', 'devstack-tempest')

_SOURCED = re.compile(r'\bsource \$\{?(?:TOP|FUNC|RC)_DIR\}?/([\w./-]+)')
_FUNCTION = re.compile(
    r'^[ \t]*(?:function +([\w-]+)(?: *\( *\))?|([\w-]+) *\( *\))\s*\{', re.M)
_VARIABLE = re.compile(r'\b([A-Z][A-Z0-9_]*)\+?=')
_PHASE = re.compile(r'^\s*run_phase (\w+)(?: ([\w-]+))?', re.M)
_PLUGIN_FILE = re.compile(r'-f \$dir/devstack/([\w.-]+)')


class Repository:
    """A git repository at its HEAD."""

    def __init__(self, path):
        self._path = path
        self.commit = self._git('rev-parse', 'HEAD').strip()
        self.files = self._git(
            'ls-tree', '-r', '--name-only', 'HEAD').splitlines()

    def _git(self, *words):
        return processes.run(['git', '-C', self._path, *words], timeout=60)

    def text(self, path):
        return self._git('show', f'HEAD:{path}')

    def yaml(self, path):
        return yaml.safe_load(self.text(path))


def functions(text) -> list[str]:
    """Names of the functions that a shell script defines; pure."""
    return sorted({a or b for a, b in _FUNCTION.findall(text)})


def variables(text) -> list[str]:
    """Names of the variables that a shell script sets; pure."""
    return sorted(set(_VARIABLE.findall(text)))


def sourced(repository, *paths) -> list[str]:
    """Files and everything that they source, recursively."""
    found, waiting = set(), [*paths]
    while waiting:
        path = waiting.pop()
        found.add(path)
        for name in _SOURCED.findall(repository.text(path)):
            if name in repository.files and name not in found:
                waiting.append(name)
    return sorted(found)


def early(devstack) -> list[str]:
    """Variables that are set when plugins' override-defaults are read."""
    begin, _, _ = devstack.text('stack.sh').partition(
        'run_phase override_defaults')
    files = sourced(devstack, *(name for name in _SOURCED.findall(begin)
                                if name in devstack.files))
    return variables('\n'.join((begin, *map(devstack.text, files))))


def copied(devstack, tempest) -> list[str]:
    """Paths, some of them templates, that jobs copy into their logs."""
    found = set()
    for item in (*devstack.yaml('.zuul.yaml'),
                 *tempest.yaml('zuul.d/base.yaml')):
        job = item.get('job', {})
        if job.get('name') in JOBS:
            found.update(job.get('vars', {}).get('zuul_copy_output', {}))
    for role in re.findall(r'^    - (?:role: )?([\w-]+)$',
                           devstack.text('playbooks/post.yaml'), re.M):
        path = posixpath.join('roles', role, 'tasks/main.yaml')
        if path in devstack.files:
            found.update(_paths(devstack.yaml(path)))
    return sorted(found)


def _paths(tasks):
    """Source paths of tasks that copy files."""
    for task in tasks:
        yield from _paths(task.get('block', ()))
        for module in ('find', 'stat', 'synchronize'):
            where = task.get(module, {})
            for key in ('path', 'src'):
                # Skip the results of other tasks.
                if not re.match(r'\{\{ item\.(path|stat)',
                                where.get(key, '{{ item.path')):
                    yield where[key]
        yield from task.get('set_fact', {}).get(
            'apache_config_paths', {}).values()


def record(devstack, tempest, magnum):
    """The content of the file."""
    scripts = {s: sourced(devstack, s, EXTRA) for s in SCRIPTS}
    files = sorted({path for found in scripts.values() for path in found})
    texts = {path: devstack.text(path) for path in files}
    plugin = '\n'.join(magnum.text(f'devstack/{name}') for name in (
        'settings', 'plugin.sh', 'lib/magnum'))
    return {
        'devstack': {
            'commit': devstack.commit,
            'scripts': scripts,
            'phases': {s: [list(filter(None, words))
                           for words in _PHASE.findall(texts[s])]
                       for s in SCRIPTS},
            'plugin_files': sorted(
                set(_PLUGIN_FILE.findall(texts['functions-common']))),
            'functions': {p: functions(t) for p, t in texts.items()},
            'early': early(devstack),
            'variables': sorted(
                {name for t in texts.values() for name in variables(t)})},
        'magnum': {'commit': magnum.commit, 'functions': functions(plugin),
                   'variables': variables(plugin)},
        'tempest': {'commit': tempest.commit},
        'copied': copied(devstack, tempest)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', 1)[0])
    for name in ('devstack', 'tempest', 'magnum'):
        parser.add_argument(name, type=Repository, metavar=name.upper())
    args = parser.parse_args()
    found = record(args.devstack, args.tempest, args.magnum)
    TARGET.write_text(
        '# Names that devstack has; made by tools/record_devstack.py.\n'
        + yaml.safe_dump(found, default_flow_style=None, width=78))
    print(f'{len(found["devstack"]["functions"])} files of devstack '
          f'{args.devstack.commit[:12]}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
