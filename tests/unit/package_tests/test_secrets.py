# SPDX-License-Identifier: Apache-2.0

"""Whether Magnum's answers are searched for the secrets of a cluster."""

from unittest import mock

import testtools

from magnum_capi_tempest.tests.scenario import test_secrets

_SECRET = 'one-that-nobody-may-read'


class Clusters:
    """Those of a project with more than Magnum lists at once."""

    @staticmethod
    def show_cluster(uuid):
        return {'uuid': uuid}

    @staticmethod
    def list_clusters_detail(sort_dir='asc'):
        return {'clusters': [{'uuid': 'u', 'labels': {'x': _SECRET}}]
                if sort_dir == 'desc' else [{'uuid': 'of others'}]}


class AnswersTest(testtools.TestCase):

    def test_a_list_that_shows_one(self):
        magnum = mock.MagicMock(clusters=Clusters)
        magnum.nodegroups.list_nodegroups.return_value = {'nodegroups': []}

        class Secrets(test_secrets.SecretsTest):
            cluster = {'uuid': 'u'}
            secrets = {_SECRET: 'key of Secret s'}

        case = Secrets('test_magnum_answers_without_them')
        case.magnum = magnum

        failed = self.assertRaises(
            self.failureException, case.test_magnum_answers_without_them)
        self.assertIn('key of Secret s', str(failed))
