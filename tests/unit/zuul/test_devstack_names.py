# SPDX-License-Identifier: Apache-2.0

"""Whether the devstack plugin calls, reads and sets what devstack has.

devstack.yaml holds the names, with the commits that they were recorded from;
see tools/record_devstack.py.
"""

import ast
import configparser
import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys

from packaging import requirements
import testtools

from tests.unit.zuul import content

DEVSTACK = content.TOP / 'devstack'
FILES = ('override-defaults', 'settings', 'plugin.sh', 'lib/magnum_capi')

#: Programs that our files start, beside those of every system (coreutils).
PROGRAMS = {'docker', 'env', 'grep', 'install', 'magnum-capi', 'mktemp',
            'openstack', 'rm', 'sleep', 'sudo', 'tee', 'timeout', 'which'}

#: Where a command begins.
_COMMAND = re.compile(
    r'(?:^|\|\||&&|[;|]|\$\()[ \t]*([A-Za-z_][\w-]*)(?=[ \t;)]|$)', re.M)


def text(name):
    """A file of ours without comments, one command a line."""
    found = (DEVSTACK / name).read_text().replace('\\\n', '')
    return re.sub(r'(?m)(^|\s)#.*', '', found)


def commands(shell):
    """The words of a shell script with which its commands begin."""
    # A pattern of a case is no command, nor is what is quoted.
    shell = re.sub(r'"(?:[^"$\\]|\\.|\$(?!\())*"', '""', shell)
    shell = re.sub(r'(?m)^\s*[\w"*| -]+\)$', '', shell)
    shell = re.sub(r'!|\b(?:if|elif|while|then|do|else)\b', ';', shell)
    return set(_COMMAND.findall(shell))


def used(shell):
    """Variables that a shell script reads or sets."""
    return {a or b for a, b in re.findall(
        r'\$\{?!?([A-Z][A-Z0-9_]+)|^([A-Z][A-Z0-9_]+)=', shell, re.M)}


def words(kind):
    """Names that bash itself knows: builtin, keyword."""
    return set(subprocess.run(
        ['bash', '-c', f'compgen -A {kind}'], capture_output=True, text=True,
        timeout=60, check=True).stdout.split())


class NamesTest(testtools.TestCase):

    def test_every_command_is_devstacks_or_ours_or_a_program(self):
        ours = set(re.findall(
            r'(?m)^function (\w+)', text('lib/magnum_capi')))
        known = (content.devstack_functions() | ours | PROGRAMS
                 | words('builtin') | words('keyword'))

        self.assertEqual({}, {
            name: unknown for name in FILES
            for unknown in [commands(text(name)) - known] if unknown})

    def test_where_a_command_begins(self):
        self.assertEqual(
            {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'fi', 'for', 'done', 'echo'},
            commands('a x\nif b y; then c; fi\nfor i in 1; do d\ndone\n'
                     'echo $(e z) || f\n! g\n'
                     'pattern)\n"quoted no"\n"two words")\n'))

    def test_every_variable_is_devstacks_magnums_or_ours(self):
        record = content.upstream()
        known = {*record['devstack']['variables'],
                 *record['magnum']['variables'], *content.settings(),
                 'LINENO', 'PATH', 'SECONDS'}

        self.assertEqual({}, {
            name: unknown for name in FILES
            for unknown in [used(text(name)) - known] if unknown})

    def test_a_default_is_overridden_before_devstack_has_it(self):
        """Too late, it would have no effect: NAME=${NAME:-VALUE}."""
        early = set(content.upstream()['devstack']['early'])
        ours = set(re.findall(r'(?m)^(\w+)=', text('override-defaults')))

        self.assertIn('VOLUME_BACKING_FILE_SIZE', early)
        self.assertIn('TEMPEST_PLUGINS', ours)
        self.assertEqual(set(), ours & early)

    def test_every_phase_is_one_of_devstack(self):
        phases = {' '.join(words) for found in
                  content.upstream()['devstack']['phases'].values()
                  for words in found}
        named = re.findall(r'^ +"([^"]+)"\*?\)$', text('plugin.sh'), re.M)

        self.assertEqual(set(), {n.strip() for n in named} - phases)
        self.assertGreater(len(named), 4)

    def test_every_file_is_one_that_devstack_reads(self):
        read = content.upstream()['devstack']['plugin_files']

        self.assertEqual(set(read), {
            p.name for p in DEVSTACK.iterdir() if p.is_file()}
            - {'local.conf.sample'})


def imported(*modules):
    """Packages of others that modules of ours import, at any time."""
    seen, waiting, found = set(), [*modules], set()
    while waiting:
        name = waiting.pop()
        if name.split('.')[0] not in ('magnum_capi', 'magnum_capi_tempest'):
            found.add(name.split('.')[0])
            continue
        try:
            spec = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            continue        # from MODULE import FUNCTION
        if name in seen or not spec:
            continue
        seen.add(name)
        with open(spec.origin) as source:
            nodes = [*ast.walk(ast.parse(source.read()))]
        for node in nodes:
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                waiting += [node.module, *(f'{node.module}.{alias.name}'
                                           for alias in node.names)]
    return found - set(sys.stdlib_module_names)


class RequirementsTest(testtools.TestCase):

    #: Of upper-constraints.txt of stable/2025.1, what Magnum does not have.
    PINS = {'kubernetes': '32.0.1'}

    def installed(self):
        """What is installed beside Magnum, as requirements.Requirement."""
        extras, = re.findall(r'setup_develop \$MAGNUM_CAPI_DIR ([\w,]+)$',
                             text('lib/magnum_capi'), re.M)
        config = configparser.ConfigParser()
        config.read(content.TOP / 'setup.cfg')
        lines = [*(content.TOP / 'requirements.txt').read_text().splitlines(),
                 *(line for extra in extras.split(',')
                   for line in config['extras'][extra].splitlines())]
        return [requirements.Requirement(found) for line in lines
                for found in [line.partition('#')[0].strip()] if found]

    def test_old_branches_of_devstack_have_what_is_asked_for(self):
        """pip_install of devstack installs nothing but what is pinned."""
        pins = {**self.PINS, **dict(re.findall(
            r'^([\w.-]+)==([^\s;]+)', (
                content.TOP / 'constraints/magnum-2025.1.txt').read_text(),
            re.M))}

        self.assertEqual([], [
            str(found) for found in self.installed()
            if not found.specifier.contains(
                pins.get(found.name.lower(), '999'))])

    def test_every_package_that_the_management_cluster_wants(self):
        """What it imports is installed beside Magnum."""
        installed = {found.name.lower() for found in self.installed()}
        homes = importlib.metadata.packages_distributions()
        wanted = imported('magnum_capi_tempest.cli.management')

        self.assertIn('kubernetes', wanted)
        self.assertEqual(set(), {
            package for package in wanted
            if not installed & {home.lower() for home in homes[package]}})


class SourcingTest(testtools.TestCase):
    """Each script sources our files, with no function but those it has."""

    def check(self, script):
        phases = content.upstream()['devstack']['phases'][script]
        ours = re.findall(r'(?m)^function (\w+)', text('lib/magnum_capi'))
        lines = ['set -e', 'PATH=/usr/bin:/bin',
                 'command_not_found_handle() { builtin echo "$1" >&2; }',
                 *(f'{name}() {{ :; }}'
                   for name in content.devstack_functions(script)),
                 'trueorfalse() { builtin echo "$1"; }',
                 'DEST=/d DATA_DIR=/d STACK_USER=me',
                 f'builtin source {DEVSTACK}/override-defaults',
                 f'builtin source {DEVSTACK}/settings',
                 f'source() {{ builtin source {DEVSTACK}/lib/magnum_capi',
                 *(f'{name}() {{ :; }}' for name in ours), '}']
        lines += [f'set -- {" ".join(words)}; '
                  f'builtin source {DEVSTACK}/plugin.sh' for words in phases]
        done = subprocess.run(
            ['bash', '-c', '\n'.join(lines)], capture_output=True, text=True,
            timeout=60, env={'PATH': os.environ['PATH']})
        self.assertEqual('', done.stderr)
        self.assertEqual(0, done.returncode)

    def test_stack(self):
        self.check('stack.sh')

    def test_unstack(self):
        self.check('unstack.sh')

    def test_clean(self):
        self.check('clean.sh')


class RecorderTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        spec = importlib.util.spec_from_file_location(
            'record_devstack', content.TOP / 'tools/record_devstack.py')
        self.tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.tool)

    def test_functions_of_each_form(self):
        self.assertEqual(['a', 'b', 'c', 'd-e', 'f'], self.tool.functions(
            'function a {\n}\nfunction b() {\n}\nc() { x; }\n'
            '    function d-e ( ) {\nf ()\n{\n# function g {\ng x\n'))

    def test_variables(self):
        self.assertEqual(['A', 'B', 'C', 'D_1'], self.tool.variables(
            'A=1 B+=x\nexport C=$E\n: ${F:-G}\nD_1=${D_1:-}\nh=2\n'))

    def test_what_is_set_in_front_of_override_defaults(self):
        class Checkout:
            files = {
                'stack.sh': 'A=1\nsource $TOP_DIR/rc\nA2=1\n'
                            'run_phase override_defaults\nB=2\n'
                            'source $TOP_DIR/lib/b\n',
                'rc': 'C=${C:-1}\nsource $RC_DIR/functions\n',
                'functions': 'D=1', 'lib/b': 'E=1'}
            text = files.get

        self.assertEqual(['A', 'A2', 'C', 'D'], self.tool.early(Checkout))

    def test_where_roles_take_files_from(self):
        self.assertEqual(
            ['/etc/{{ item.value.short_name }}', '/var/log/apache2',
             '{{ base }}/logs'], sorted(self.tool._paths([
                 {'stat': {'path': '/etc/{{ item.value.short_name }}'}},
                 {'command': 'cp {{ item.stat.path }} x'},
                 {'block': [{'find': {'path': '/var/log/apache2'}},
                            {'stat': {'path': '{{ item.path }}'}}]},
                 {'synchronize': {'src': '{{ base }}/logs', 'dest': 'x'}}])))
