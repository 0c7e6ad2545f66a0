# SPDX-License-Identifier: Apache-2.0

"""What Zuul, Ansible and devstack would read, and what is wrong with it.

Every job variable has to mean something to somebody: a role's argument, an
option of Tempest, a setting of the devstack plugin, an upstream variable of
the tables below. The functions return complaints, so that a test can show
that a typo makes one.
"""

import ast
import configparser
import functools
import importlib
import pathlib
import re
import tomllib

from jinja2 import meta
from jinja2 import sandbox
import yaml

from magnum_capi_tempest import config

TOP = pathlib.Path(__file__).resolve().parents[3]

#: Jobs of other repositories that ours descend from.
PARENTS = {'base', 'devstack-tempest', 'openstack-tox'}

#: Seconds that a job may take: max-job-timeout of OpenDev's tenant, which is
#: Zuul's default.
MAX_JOB_TIMEOUT = 10800

#: Jobs' variables that others read: roles of devstack and tempest, and tox.
UPSTREAM = {
    'devstack_local_conf', 'devstack_localrc', 'devstack_plugins',
    'devstack_services', 'tempest_concurrency', 'tempest_test_regex',
    'tempest_test_timeout', 'tox_envlist'}

#: Settings that other plugins of devstack read, by the plugin.
LOCALRC = {
    'devstack': {'FIXED_RANGE', 'LIBVIRT_CPU_MODE', 'LIBVIRT_TYPE',
                 'VOLUME_BACKING_FILE_SIZE'},
    'devstack-plugin-container': {
        'CONTAINER_ENGINE', 'CRIO_VERSION', 'K8S_CAPI_VERSION',
        'K8S_CAPO_VERSION', 'K8S_VERSION'},
    'magnum': {'MAGNUM_GUEST_IMAGE_EXTRA_PROPERTIES',
               'MAGNUM_GUEST_IMAGE_URL'},
    'octavia': {'DISABLE_AMP_IMAGE_BUILD', 'OCTAVIA_NODE'}}

#: What Ansible and Zuul define.
GIVEN = {'ansible_check_mode', 'ansible_facts', 'ansible_user_dir', 'item',
         'omit', 'zuul'}

_ENVIRONMENT = sandbox.SandboxedEnvironment()
# Of Ansible. Templates are parsed here, not rendered.
_ENVIRONMENT.filters.update(dict.fromkeys((
    'basename', 'dirname', 'flatten', 'product', 'quote', 'regex_replace',
    'relpath', 'ternary'), str))
_ENVIRONMENT.tests.update(dict.fromkeys(('changed', 'succeeded'), bool))
_RUNS = ('pre-run', 'run', 'post-run')


@functools.cache
def load(path):
    return yaml.load((TOP / path).read_text(),
                     getattr(yaml, 'CSafeLoader', yaml.SafeLoader))


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


def merged(dicts):
    """As Zuul merges the variables of a job with its parent's."""
    out = {}
    for one in dicts:
        for name, value in one.items():
            if isinstance(value, dict) and isinstance(out.get(name), dict):
                value = merged([out[name], value])
            out[name] = value
    return out


def variables(name, known):
    return merged(job.get('vars', {}) for job in chain(name, known))


def playbooks(name, known):
    """Paths of all playbooks of a job that are in this repository."""
    lineage = chain(name, known)
    runs = [job['run'] for job in lineage if 'run' in job][-1:]
    return [*runs, *(job[when] for job in lineage
                     for when in ('pre-run', 'post-run') if when in job)]


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


def holds(conditions, **variables):
    """Whether all of a task's conditions are true, as in Ansible."""
    return all(_ENVIRONMENT.compile_expression(text)(**variables)
               for text in words_in(conditions))


def roles():
    return sorted(path.name for path in (TOP / 'roles').iterdir())


def arguments(role):
    spec = load(f'roles/{role}/meta/argument_specs.yaml')
    return spec['argument_specs']['main']['options']


def limit_on_the_node(task):
    """The word of a command that limits its time on the node, or None.

    Ansible's "timeout" ends the task; what the task started goes on.
    """
    found = ' '.join(words_in(task.get('ansible.builtin.command', {})))
    seen = re.search(r"\btimeout\W+--kill-after=\d+\W+(\w+)", found)
    return seen and seen[1]


def tasks(node):
    """All tasks in a playbook or a file of tasks."""
    for item in node:
        for key in ('tasks', 'block', 'always', 'rescue', 'handlers'):
            yield from tasks(item.get(key, ()))
        if 'hosts' not in item and 'block' not in item:
            yield item


def roles_of(playbook):
    """Names of the roles of a playbook."""
    plays = load(playbook)
    return {role for play in plays for role in play.get('roles', ())} | {
        task['ansible.builtin.include_role']['name'] for task in tasks(plays)
        if 'ansible.builtin.include_role' in task}


def upstream():
    """Names that devstack has, and what its jobs copy."""
    return load('tests/unit/zuul/devstack.yaml')


def devstack_functions(script='stack.sh'):
    """Names of the functions that a script of devstack has."""
    record = upstream()['devstack']
    return {name for path in record['scripts'][script]
            for name in record['functions'][path]}


def collected():
    """Paths that jobs on devstack copy into logs that everybody may read.

    Those of devstack and tempest, as they are recorded, with the folders that
    Zuul's base job fetches; with ``/etc/NAME`` of each project of our jobs.
    """
    base = '/opt/stack'
    names = {project.rpartition('/')[2] for job in bodies('job')
             for project in job.get('required-projects', ())}
    found = {f'/home/zuul/{name}' for name in ('logs', 'zuul-output')}
    for text in upstream()['copied']:
        for name in names:
            found.add(_ENVIRONMENT.from_string(text).render(
                ansible_os_family='Debian', apache_config_paths={},
                devstack_base_dir=base, devstack_conf_dir=f'{base}/devstack',
                devstack_log_dir=f'{base}/logs', stage_dir='/home/zuul/stage',
                devstack_full_log=f'{base}/logs/devstack-early.txt',
                item={'value': {'short_name': name}}))
    return {pathlib.PurePath(path) for path in found if path}


def settings():
    """Names of the settings of the devstack plugin."""
    return set(re.findall(
        r'^([A-Z_]+)=', (TOP / 'devstack/settings').read_text(), re.M))


@functools.cache
def options():
    """Options of tempest.conf of this project: types by (group, name)."""
    return {(group.name, opt.name): opt.type
            for group, opts in config.TABLE for opt in opts}


@functools.cache
def test_ids():
    """Ids of all tests of this project, with their tags, by their source."""
    found = []
    for path in sorted((TOP / 'magnum_capi_tempest/tests').glob(
            '*/test_*.py')):
        module = '.'.join(path.relative_to(TOP).with_suffix('').parts)
        for node in ast.parse(path.read_text()).body:
            for method in getattr(node, 'body', ()):
                if getattr(method, 'name', '').startswith('test_'):
                    tags = [word.value for decorator in method.decorator_list
                            for word in ast.walk(decorator)
                            if isinstance(word, ast.Constant)]
                    found.append(f'{module}.{node.name}.{method.name}'
                                 f'[{",".join(map(str, tags))}]')
    return found


def complaints(name, known):
    """What is wrong with the variables of a job; a list of str."""
    found = variables(name, known)
    books = playbooks(name, known)
    taken = {argument for book in books for role in roles_of(book)
             if role in roles() for argument in arguments(role)}
    read = names_in(found) | {n for book in books for n in names_in(
        load(book))}
    out = []
    for variable, value in found.items():
        if variable in taken or variable in UPSTREAM:
            continue
        if not variable.startswith('magnum_capi_'):
            out.append(f'{variable}: no role of the job takes it')
        elif variable not in read:
            out.append(f'{variable}: nobody reads it')
    out += [f'{n}: used, and not set' for n in sorted(
        names_in(found) - set(found) - taken - GIVEN)]
    out += _localrc(found.get('devstack_localrc', {}),
                    found.get('devstack_plugins', {}))
    out += _local_conf(found.get('devstack_local_conf', {}))
    asked = found.get('run_magnum_capi_tempest_options', {})
    out += _tempest({config.GROUP.name: asked})
    for variable in ('tempest_test_regex', 'run_magnum_capi_tempest_regex'):
        regex = found.get(variable)
        if regex and not any(re.search(regex, i) for i in test_ids()):
            out.append(f'{variable}: selects no test: {regex}')
    return out


def _localrc(found, plugins):
    known = settings().union(
        *(LOCALRC.get(p, ()) for p in ('devstack', *plugins)))
    return [f'{name}: no plugin of the job has this setting'
            for name in found if name not in known]


def _local_conf(found):
    out = []
    for phase, files in found.items():
        for name, groups in files.items():
            if (phase, name) != ('test-config', '$TEMPEST_CONFIG'):
                out.append(f'{phase} {name}: not known here')
            else:
                out += _tempest(groups)
    return out


def _tempest(groups):
    out = []
    for group, wanted in groups.items():
        for name, value in wanted.items():
            kind = options().get((group, name))
            if kind is None:
                out.append(f'[{group}] {name}: no such option of Tempest')
            elif '{{' not in str(value):
                try:
                    kind(str(value))
                except ValueError as e:
                    out.append(f'[{group}] {name}: {e}')
    return out


@functools.cache
def commands():
    """Entry points of ``magnum-capi``, by name: "sandbox_up"."""
    parser = configparser.ConfigParser(delimiters='=')
    parser.read(TOP / 'setup.cfg')
    lines = parser['entry_points']['magnum_capi.cli'].split('\n')
    library = tomllib.loads(
        (TOP / 'magnum-capi' / 'pyproject.toml').read_text())['project']
    return {**dict(re.split(r'\s*=\s*', line) for line in lines if line),
            **library['entry-points']['magnum_capi.cli']}


@functools.cache
def flags(command):
    """Options that a command of ``magnum-capi`` has."""
    module, _, name = commands()[command].partition(':')
    made = getattr(importlib.import_module(module), name)(None, None)
    return set(made.get_parser('x')._option_string_actions)


def misused(words):
    """What is wrong with words of a call of ``magnum-capi``.

    :param words: its arguments; None for those that nobody knows.
    """
    if words[:1] == ['timeout']:
        words = [w for w in words[1:] if w and '--kill-after=' not in w]
    plain = [w for w in words if w and re.fullmatch('[a-z_]+', w)]
    for length in (3, 2):
        command = '_'.join(plain[:length])
        if command in commands():
            return [f'{command} has no {w}' for w in words
                    if w and re.fullmatch(r'--?[a-z].*', w)
                    and w not in flags(command)]
    return [f'no command of magnum-capi: {plain[:3]}']


def argv(task):
    """Words of the command of a task, as far as they are written there."""
    found = task['ansible.builtin.command']['argv']
    templates = [*words_in(found),
                 *words_in(list(task.get('vars', {}).values()))]
    for text in templates:
        if '{{' not in text:
            yield text
        else:
            # Words of a list, in a template.
            yield from re.findall(r"'([\w-]+)'(?=\s*[],])", text)
