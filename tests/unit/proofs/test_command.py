# SPDX-License-Identifier: Apache-2.0

"""Which cases are run, what is told, and what is written."""

import contextlib
import csv
import io
import pathlib
import signal

import testtools

from magnum_capi import errors
from tests import proofs
from tests.proofs import __main__ as command
from tests.proofs import records
from tests.unit.proofs import base


class ChoiceTest(base.ToyTest):

    def test_all_by_default(self):
        code, said = self.call()

        self.assertEqual((0, ['one', 'other', 'big']), (code, self.toy.ran))
        self.assertIn('toy: 4 of 4 kept, 3 cases', said)
        self.assertIn('commit abc', said)

    def test_some_by_name_and_pattern(self):
        for words, ran in ((['one'], ['one']), (['o*'], ['one', 'other']),
                           (['other', 'big'], ['other', 'big'])):
            self.toy.ran.clear()
            self.assertEqual(0, self.call(*words)[0])
            self.assertEqual(ran, self.toy.ran)

    def test_one_that_is_not_there(self):
        code, said = self.call('one', 'two')

        self.assertEqual((2, []), (code, self.toy.ran))
        self.assertIn('there is no two; see --list', said)

    def test_one_that_cannot_be_run_so(self):
        code, said = self.call('--small', 'big')
        self.assertEqual(2, code)
        self.assertIn('big needs more room', said)

        code, said = self.call('--small')
        self.assertEqual((0, ['one', 'other']), (code, self.toy.ran))
        self.assertIn('big: left out, it needs more room', said)

    def test_list(self):
        self.assertEqual((0, 'one: text of one\n'),
                         self.call('--list', 'one'))
        self.assertEqual([], self.toy.ran)

    def test_results_that_are_to_be_read_have_a_folder(self):
        for word in ('--from-results', '--resume'):
            self.assertEqual(2, self.call(word)[0])


class ControlTest(base.ToyTest):

    outcomes = {'control': [True], 'one': [True], 'other': [True]}

    def test_it_is_run_whatever_is_chosen_and_last(self):
        self.call('one')

        self.assertEqual(['one', 'control'], self.toy.ran)


class ResultsTest(base.ToyTest):

    def test_what_is_kept_is_shown_without_a_run(self):
        self.kept()
        self.toy.ran.clear()

        code, said = self.kept('--from-results')

        self.assertEqual((0, []), (code, self.toy.ran))
        self.assertIn('kept     other 1 is kept', said)
        self.assertIn('4 of 4 kept', said)

    def test_nothing_was_proved(self):
        code, said = self.kept('--from-results')

        self.assertEqual(1, code)
        self.assertIn('there are no results', said)

    def test_what_this_commit_has_is_not_run_again(self):
        self.kept('one')
        self.toy.ran.clear()

        code, said = self.kept('--resume')

        self.assertEqual((0, ['other', 'big']), (code, self.toy.ran))
        self.assertIn('4 of 4 kept', said)
        self.assertEqual(3, len(self.toy.works[-1].chosen))

    def test_what_another_commit_has_is(self):
        self.kept()
        self.toy.ran.clear()
        for self.commit in ('def', ''):
            self.kept('one', '--resume')

        self.assertEqual(['one', 'one'], self.toy.ran)

    def test_a_later_run_replaces_an_earlier_one(self):
        self.toy.outcomes = {'one': [False]}
        self.assertEqual(1, self.kept()[0])
        self.toy.outcomes = {'one': [True]}

        self.assertEqual(0, self.kept()[0])

    def test_what_is_no_record_is_named(self):
        self.kept('one')
        (self.results / 'one.json').write_text('{')

        self.assertIn('This is no record of a proof',
                      self.kept('--from-results')[0])


class WrongTest(base.ToyTest):

    outcomes = {'one': [True, False], 'other': [True, errors.MagnumCapiError(
        'No network')], 'big': [True]}

    def test_it_is_told_again_at_the_end(self):
        code, said = self.kept()

        self.assertEqual((1, ['one', 'other', 'big']), (code, self.toy.ran))
        self.assertEqual(2, said.count('NOT kept one 1 is lost'))
        self.assertEqual(2, said.count(
            'NOT kept other: the proof itself: No network'))
        self.assertIn('3 of 5 kept', said)

    def test_a_case_with_a_problem_is_run_again(self):
        self.kept()
        self.toy.ran.clear()

        self.kept('--resume')

        self.assertEqual(['other'], self.toy.ran)

    def test_a_case_that_was_interrupted_has_failed_and_is_run_again(self):
        self.toy.outcomes = {'one': [True, KeyboardInterrupt()]}
        self.assertRaises(KeyboardInterrupt, self.kept)
        self.assertEqual(0, self.toy.open_)

        code, said = self.kept('--from-results')
        self.assertEqual(1, code)
        self.assertIn('one: the proof itself: interrupted', said)

        self.toy.outcomes = {'one': [True]}
        self.assertEqual(0, self.kept('--resume')[0])


class DocumentationTest(base.ToyTest):

    def read(self, path):
        with open(path, newline='') as file:
            return list(csv.reader(file))

    def test_it_is_written_on_demand(self):
        self.kept()
        self.assertFalse(self.toy.docs.exists())

        self.kept('--from-results', '--write-docs')

        self.assertEqual(
            [list(self.toy.columns), ['one', '0', '7', 'kept'],
             ['other', '0', '7', 'kept'], ['other', '1', '7', 'kept'],
             ['big', '0', '7', 'kept']], self.read(self.toy.docs))
        self.assertEqual(
            [['Part', 'Rows', 'Kept', 'Minutes'], ['one', '1', '1', '0.0'],
             ['other', '2', '2', '0.0'], ['big', '1', '1', '0.0']],
            self.read(self.toy.docs_cases))

    def test_it_has_what_was_run_before_too(self):
        self.kept('o*')
        self.kept('big', '--write-docs')

        self.assertEqual(5, len(self.read(self.toy.docs)))

    def test_it_loses_no_rows(self):
        code, _said = self.kept('one', '--write-docs')

        self.assertIn('UsageError: toy.csv is not written: 2 cases have no '
                      'results; last seen: other, big', code)
        self.assertFalse(self.toy.docs.exists())

    def test_what_is_not_as_recorded_is_told(self):
        self.kept('--write-docs')
        self.toy.outcomes = {'other': [True, False, True]}

        _code, said = self.kept()

        self.assertIn('Not as in toy.csv: other, 1: recorded kept, now lost',
                      said)
        self.assertIn('Not as in toy.csv: other, 2: it is not recorded', said)
        self.assertNotIn('other, 0:', said)


class FolderTest(base.ToyTest):

    def test_a_new_one_goes_at_the_end(self):
        self.call()
        work, = self.toy.works

        self.assertFalse(work.folder.exists())
        self.assertFalse(work.keep)

    def test_one_that_was_asked_for_is_left_alone(self):
        mine = self.folder / 'mine'
        mine.mkdir()
        self.call('--directory', str(mine))
        work, = self.toy.works

        self.assertEqual((mine, True), (work.folder, work.keep))
        self.assertTrue((mine / 'results' / 'one.json').exists())


class MainTest(testtools.TestCase):

    def call(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            return command.main(words), said.getvalue()

    def test_list(self):
        code, said = self.call('--list')

        self.assertEqual(0, code)
        for name in command.PROOFS:
            self.assertIn(f'{name} ', said)

    def test_no_such_proof(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            e = self.assertRaises(SystemExit, self.call, 'pudding')

        self.assertEqual(2, e.code)
        self.assertIn('pudding', said.getvalue())

    def test_sigterm_ends_as_an_exception_does(self):
        self.addCleanup(signal.signal, signal.SIGTERM,
                        signal.getsignal(signal.SIGTERM))
        proofs.take_down_at_the_end()

        e = self.assertRaises(SystemExit, signal.raise_signal, signal.SIGTERM)

        self.assertEqual(143, e.code)


class RealProofsTest(testtools.TestCase):

    def cases(self, proof):
        return list(proof.cases(command._parser(proof).parse_args([])))

    def test_records_of_cases_do_not_meet(self):
        for name in command.PROOFS:
            proof = command.load(name)
            files = [records.file_name(case.name)
                     for case in self.cases(proof)]

            self.assertEqual(name, proof.name)
            self.assertNotEqual([], files)
            self.assertEqual(sorted(set(files)), sorted(files))

    def test_recorded_tables_have_their_columns(self):
        for name in command.PROOFS:
            proof = command.load(name)
            if proof.docs:
                with open(proof.docs, newline='') as file:
                    head = next(csv.reader(file))
                self.assertEqual(list(proof.columns), head)
                self.assertLessEqual(
                    {*proof.key, *proof.compared}, {*head})

    def test_sandboxes_have_ports_of_their_own(self):
        ports = [proof.port_base for proof in map(
            command.load, command.PROOFS) if proof.port_base]

        self.assertEqual(len(set(ports)), len(ports))

    def test_each_has_its_folder(self):
        here = pathlib.Path(proofs.__file__).parent

        self.assertEqual(
            {name.replace('-', '_') for name in command.PROOFS},
            {path.parent.name for path in here.glob('*/proof.py')})
