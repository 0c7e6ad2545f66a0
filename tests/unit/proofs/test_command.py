# SPDX-License-Identifier: Apache-2.0


import argparse
import contextlib
import pathlib
import signal

import testtools

from tests import proofs


class ProofsTest(testtools.TestCase):

    def parse(self, *words):
        parser = argparse.ArgumentParser()
        proofs.add_options(parser, 1234, results='it', shown='show it',
                           tables='table')
        return parser.parse_args(words)

    def test_options(self):
        self.assertEqual(
            {'results': None, 'from_results': False, 'write_docs': False,
             'directory': None, 'port_base': 1234}, vars(self.parse()))
        self.assertEqual(
            {'results': pathlib.Path('r'), 'from_results': True,
             'write_docs': True, 'directory': pathlib.Path('d'),
             'port_base': 5678}, vars(self.parse(
                 '--results', 'r', '--from-results', '--write-docs',
                 '--directory', 'd', '--port-base', '5678')))

    def test_a_new_folder_goes_at_the_end(self):
        with contextlib.ExitStack() as stack:
            folder = proofs.folder(self.parse(), stack, 'proofs-')
            self.assertTrue(folder.is_dir())
        self.assertFalse(folder.exists())

    def test_a_folder_that_was_asked_for_is_left_alone(self):
        args = self.parse('--directory', 'mine')

        self.assertEqual(pathlib.Path('mine'),
                         proofs.folder(args, None, 'proofs-'))

    def test_sigterm_ends_as_an_exception_does(self):
        self.addCleanup(signal.signal, signal.SIGTERM,
                        signal.getsignal(signal.SIGTERM))
        proofs.take_down_at_the_end()

        e = self.assertRaises(SystemExit, signal.raise_signal, signal.SIGTERM)

        self.assertEqual(143, e.code)
