# SPDX-License-Identifier: Apache-2.0


"""What the documentation says is there, is there."""

import ast
import configparser
import pathlib
import re

import testtools

from magnum_capi_sandbox.cloud import flavors
from magnum_capi_sandbox import layout
from tests.unit.cli import calls
from tests.unit.docs import pages


def _each(find):
    """What a function finds wrong with the text of a page, by page."""
    return {str(page.relative_to(pages.TOP)): wrong
            for page in pages.pages()
            for wrong in [find(page.read_text())] if wrong}


def _group(words):
    """Whether this is a group of commands, or asks what there is."""
    return words == ['--help'] or len(words) == 1 and any(
        name.startswith(f'{words[0]}_') for name in calls.commands())


def _misused(text):
    return [complaint for line in pages.written(text)
            for words in pages.calls(line) if not _group(words)
            for complaint in calls.misused(words)]


#: Folders whose files pages name by their paths.
_FOLDERS = ('charts', 'constraints', 'devstack', 'doc/source', 'drivers',
            'magnum-capi', 'magnum_capi_tempest', 'playbooks', 'releasenotes',
            'roles', 'sandbox', 'tests', 'tools', 'upstream', 'zuul.d')
_FILE = re.compile(rf'(?<![\w./-])((?:{"|".join(_FOLDERS)})/[\w./-]*\w)')
_MODULE = re.compile(r'python -m ((?:tests|magnum_capi)[\w.]*\w)')

_THIS = pathlib.Path(__file__).resolve()

#: Folders that have the packages of Python.
_HOMES = ('.', 'magnum-capi', 'sandbox')


def _missing(text):
    """The files and modules that a text names and that do not exist."""
    modules = [name.replace('.', '/') for name in _MODULE.findall(text)]
    return [name for names, homes in (
        (_FILE.findall(text), ('.',)), (modules, _HOMES))
        for name in names
        if not any((pages.TOP / home / f'{name}{end}').exists()
                   for home in homes for end in ('', '.py'))]


_INSTALLED = re.compile(r'(?:-e|--editable) \'?(\.[\w/-]*)')


def _too_early(text):
    """Commands that install the sandbox before what it requires.

    It requires extras of magnum-capi-tempest. pip 23.2 looks them up in its
    index when it reaches the sandbox, unless that folder came before it:
    "Could not find a version that satisfies the requirement".
    """
    return [line for line in re.findall(
        r'pip install (?:.*\\\n)*.*', text)
        for folders in [_INSTALLED.findall(line)]
        if './sandbox' in folders and './sandbox' != folders[-1]]


class WrittenTest(testtools.TestCase):

    def test_commands_and_their_options_exist(self):
        self.assertEqual({}, _each(_misused))

    def test_environments_of_tox_exist(self):
        parser = configparser.RawConfigParser(strict=False)
        parser.read(pages.TOP / 'tox.ini')
        known = {'py3', *(name.partition(':')[2]
                          for name in parser.sections())}

        self.assertEqual({}, _each(lambda text: set(re.findall(
            r'\btox -e ([\w,-]*\w)', text)) - known))

    def test_pip_finds_what_the_sandbox_requires(self):
        self.assertEqual({}, _each(_too_early))

    def test_files_and_modules_exist(self):
        self.assertEqual({}, _each(_missing))


class NamedPagesTest(testtools.TestCase):
    """Pages are named by their paths in notes and in code, too."""

    def missing(self, text, name):
        """The pages that a text names and that do not exist."""
        found = set(re.findall(r'doc/source/([\w./-]*\w\.(?:rst|csv))', text))
        if 'releasenotes' in name:
            found |= set(re.findall(r'``([\w/-]+\.rst)``', text))
        return sorted(page for page in found if not any(
            (folder / page).exists() for folder in (pages.SOURCE, pages.TOP)))

    def test_they_exist(self):
        suffixes = {'.py', '.toml', '.yaml', '.sh', '.rst', '.go'}
        paths = [path for folder in _FOLDERS
                 for path in (pages.TOP / folder).rglob('*')
                 if path.suffix in suffixes and path != _THIS]
        self.assertNotEqual([], paths)

        self.assertEqual({}, {
            str(path): wrong for path in paths
            for wrong in [self.missing(path.read_text(), str(path))] if wrong})


class EntriesTest(testtools.TestCase):

    def test_each_begins_with_commands(self):
        for page in pages.ENTRIES:
            self.assertThat(len(pages.first(page)),
                            testtools.matchers.GreaterThan(2), page.name)


class ArchitectureTest(testtools.TestCase):
    """Its page shows the first paragraphs of the rooms' docstrings."""

    FOLDERS = re.findall(r'^\.\. room-list:: (.+)$', (
        pages.SOURCE / 'architecture.rst').read_text(), re.M)

    def rooms(self, folder):
        return [*folder.glob('*/__init__.py'), *folder.glob('[!_]*.py')]

    def test_every_distribution_is_shown(self):
        self.assertEqual(
            {'magnum-capi/magnum_capi', 'magnum-capi/magnum_capi/driver',
             'magnum_capi_tempest', 'sandbox/magnum_capi_sandbox'},
            set(self.FOLDERS))

    def test_every_room_says_what_it_is_for(self):
        for name in self.FOLDERS:
            rooms = self.rooms(pages.TOP / name)

            self.assertNotEqual([], rooms, name)
            for path in rooms:
                text = ast.get_docstring(ast.parse(path.read_text())) or ''
                self.assertRegex(
                    text.partition('\n\n')[0], r'[.?:]$', str(path))


class SandboxTest(testtools.TestCase):
    """Its page has the tables that users look up."""

    TEXT = (pages.SOURCE / 'sandbox.rst').read_text()

    def test_flavors(self):
        table = self.TEXT.split('\nflavor ')[1].split('\n\n')[0]
        shown = re.findall(r'^``([\w.-]+)``', table, re.M)

        self.assertEqual(
            {flavor.name for flavor in flavors.FLAVORS
             if flavor.behaviour or flavor.name == 'm1.tiny'},
            set(shown))

    def test_ports(self):
        shown = {name.lower(): int(port) for name, port in re.findall(
            r'^(\w+) +(\d{3})\b', self.TEXT, re.M)}
        # Those of RabbitMQ's helpers are in a remark.
        wanted = {name: port for name, port in layout.PORTS.items()
                  if name not in ('rabbitmq-distribution', 'epmd')}

        self.assertEqual(wanted, {name: shown.get(name) for name in wanted})
