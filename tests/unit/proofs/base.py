# SPDX-License-Identifier: Apache-2.0

"""A proof of nothing, and what its command says."""

import contextlib
import io
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from tests.proofs import __main__ as command
from tests.proofs import proof


class Toy(proof.Proof):
    """Cases are what their data says: outcomes, or an exception.

    :param outcomes: by the names of cases: lists of booleans and exceptions.
    """

    name = 'toy'
    summary = 'Prove nothing.'
    columns = 'Case', 'Number', 'Seconds', 'Verdict'
    key = 'Case', 'Number'
    compared = ('Verdict',)
    port_base = 1234

    def __init__(self, outcomes, folder):
        self.outcomes = outcomes
        self.docs = folder / 'toy.csv'
        self.docs_cases = folder / 'toy-cases.csv'
        self.ran, self.open_, self.works = [], 0, []

    def add_options(self, parser):
        parser.add_argument('--small', action='store_true')

    def cases(self, args):
        return [proof.Case(
            name, f'text of {name}', data=outcomes,
            control=name.startswith('control'),
            needs='more room' if name == 'big' and args.small else '')
            for name, outcomes in self.outcomes.items()]

    @contextlib.contextmanager
    def open(self, work):
        self.open_ += 1
        self.works.append(work)
        try:
            yield work
        finally:
            self.open_ -= 1

    def run(self, world, case):
        self.ran.append(case.name)
        for number, outcome in enumerate(case.data):
            if callable(outcome):
                outcome()
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                yield {'number': number, 'good': outcome}

    def judge(self, case, seen, results):
        word = 'kept' if seen['good'] else 'lost'
        return proof.Row(
            seen['good'], f'{case.name} {seen["number"]} is {word}',
            (case.name, str(seen['number']), '7', word))


class ToyTest(testtools.TestCase):

    #: Of the toy's cases.
    outcomes = {'one': [True], 'other': [True, True], 'big': [True]}

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.toy = Toy(self.outcomes, self.folder)
        self.results = self.folder / 'results'
        self.useFixture(fixtures.MonkeyPatch(
            'tests.proofs.__main__.PROOFS', {'toy': 'nothing'}))
        self.useFixture(fixtures.MockPatchObject(
            command, 'load', lambda name: self.toy))
        self.commit = 'abc'
        self.useFixture(fixtures.MockPatch(
            'tests.proofs.records.commit', lambda top: self.commit))
        self.useFixture(fixtures.MockPatch(
            'tests.proofs.take_down_at_the_end'))

    def call(self, *words):
        """The exit code of the command, and all that it said."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), \
                contextlib.redirect_stderr(said):
            try:
                code = command.main(['toy', *words])
            except SystemExit as e:
                code = e.code
            except errors.MagnumCapiError as e:
                code = f'{type(e).__name__}: {e}'
        return code, said.getvalue()

    def kept(self, *words):
        return self.call('--results', str(self.results), *words)
