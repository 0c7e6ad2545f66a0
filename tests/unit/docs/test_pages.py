# SPDX-License-Identifier: Apache-2.0


"""What the documentation says is there, is there."""

import configparser
import re

import testtools

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


class WrittenTest(testtools.TestCase):

    def test_commands_and_their_options_exist(self):
        self.assertEqual({}, _each(_misused))

    def test_a_typo_is_found(self):
        text = ('Say ``magnum-capi sandbox\nupp``, or::\n\n'
                '  magnum-capi sandbox up \\\n      --clahs\n')

        self.assertEqual(
            ['sandbox_up has no --clahs',
             "no command of magnum-capi: ['sandbox', 'upp']"],
            _misused(text))

    def test_environments_of_tox_exist(self):
        parser = configparser.RawConfigParser(strict=False)
        parser.read(pages.TOP / 'tox.ini')
        known = {'py3', *(name.partition(':')[2]
                          for name in parser.sections())}

        self.assertEqual({}, _each(lambda text: set(re.findall(
            r'\btox -e ([\w,-]*\w)', text)) - known))

    def test_files_and_modules_exist(self):
        self.assertEqual({}, _each(_missing))

    def test_a_file_that_is_missing_is_found(self):
        for text, wrong in (
                ('``magnum-capi/magnum_capi/kube``', []),
                ('``magnum-capi/magnum_capi/kub``',
                 ['magnum-capi/magnum_capi/kub']),
                ('``sandbox/chart``', ['sandbox/chart']),
                ('python -m magnum_capi.cli.main', []),
                ('python -m magnum_capi_sandbox.cli.x',
                 ['magnum_capi_sandbox/cli/x'])):
            self.assertEqual(wrong, _missing(text))


class EntriesTest(testtools.TestCase):

    def test_each_begins_with_commands(self):
        for page in pages.ENTRIES:
            self.assertThat(len(pages.first(page)),
                            testtools.matchers.GreaterThan(2), page.name)


class ArchitectureTest(testtools.TestCase):

    #: Packages, the sections of the page about them, and whether their single
    #: modules are rooms as well.
    PACKAGES = (
        ('magnum-capi/magnum_capi', 'The library', True),
        ('magnum-capi/magnum_capi/driver', 'Rooms in the driver', False),
        ('magnum_capi_tempest', 'The harness', True),
        ('magnum_capi_tempest/conformance', 'The harness', False))

    def rooms(self, package, modules):
        folder = pages.TOP / package
        found = {path.parent.name for path in folder.glob('*/__init__.py')}
        if modules:
            found |= {path.stem for path in folder.glob('[!_]*.py')}
        return found

    def test_every_room_has_a_question(self):
        text = (pages.SOURCE / 'architecture.rst').read_text()
        _, *parts = re.split(r'^(.+)\n-+\n', text, flags=re.M)
        sections = dict(zip(parts[::2], parts[1::2], strict=True))
        for package, section, modules in self.PACKAGES:
            rooms = self.rooms(package, modules)

            self.assertNotEqual(set(), rooms, package)
            self.assertEqual(set(), {
                room for room in rooms
                if f'``{room}``' not in sections[section]}, package)


class PagesTest(testtools.TestCase):
    """The parser of these tests."""

    def commands(self, body):
        block, = pages.blocks(
            'Text\n\n.. code-block:: console\n\n' + body + '\nText\n')
        return block

    def test_output_belongs_to_a_command(self):
        one, two = self.commands(
            '   $ first\n   out\n\n     put\n\n   host$ second\n')

        self.assertEqual(('first', ('out', '', '  put')),
                         (one.text, one.shown))
        self.assertEqual(('second', ()), (two.text, two.shown))

    def test_a_command_goes_on(self):
        command, = self.commands(
            '   $ first \\\n       --option\n   out\n')

        self.assertEqual('first \\\n--option', command.text)
        self.assertEqual(('out',), command.shown)

    def test_a_document(self):
        command, = self.commands(
            '   $ cat > x << EOF\n   > a: 1\n   > EOF\n')

        self.assertEqual('cat > x << EOF\na: 1\nEOF', command.text)

    def test_exit_code(self):
        good, bad = self.commands('   $ a\n   $ b  # exit code 3\n')

        self.assertEqual((0, 3), (good.code, bad.code))

    def test_what_was_printed(self):
        command, = self.commands('   $ a\n   took ... s\n   ...\n   end\n')

        self.assertTrue(command.printed('x\ntook 2 s\ny\nz\nend \n'))
        self.assertFalse(command.printed('took 2 s\nx\n'))
        self.assertFalse(command.printed('took 2 h\nx\nend\n'))

    def test_calls(self):
        self.assertEqual(
            [['sandbox', 'env'], ['a', None], ['b']],
            pages.calls('eval "$(magnum-capi sandbox env)" && '
                        'X=1 $SANDBOX_MAGNUM_CAPI a $x; y\n'
                        '~/bin/magnum-capi b | grep magnum-capi'))
