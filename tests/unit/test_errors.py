# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi import errors


class ErrorsTest(testtools.TestCase):

    def test_one_line_says_all_that_is_known(self):
        error = errors.MagnumCapiError(
            'No answer', where='http://here', elapsed=2.04,
            last_seen='503', hint='Try again')

        self.assertEqual('No answer (http://here), waited 2.0 s; '
                         'last seen: 503. Try again', str(error))

    def test_classes_have_their_exit_codes(self):
        self.assertEqual(
            (1, 2, 3),
            (errors.MagnumCapiError.exit_code, errors.UsageError.exit_code,
             errors.EnvironmentProblem.exit_code))

    def test_command_that_failed_shows_the_end_of_its_output(self):
        error = errors.CommandFailed(['helm', 'list'], 1, 'a' * 3000 + 'end')

        self.assertEqual(2000, len(error.last_seen))
        self.assertTrue(error.last_seen.endswith('end'))
        self.assertIn('helm failed with exit code 1 (helm list)', str(error))
