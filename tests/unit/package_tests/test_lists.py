# SPDX-License-Identifier: Apache-2.0

"""What others do with public templates changes nothing for the list tests."""

import types

from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.tests.api import test_lists

OURS = ['c', 'a', 'd', 'b']


class Templates:
    """Cluster templates in the order of their making, as Magnum lists them.

    :param others: function of the number of a request and the list: what
        somebody else does before it is answered.
    """

    def __init__(self, others):
        self.there = ['public', *OURS, 'another']
        self._others = others
        self._asked = 0

    def list_cluster_templates(self, limit=1000, marker=None):
        self._asked += 1
        self._others(self._asked, self.there)
        if marker is not None and marker not in self.there:
            raise lib_exc.NotFound(f'ClusterTemplate {marker}')
        limit = int(limit)
        begin = self.there.index(marker) + 1 if marker else 0
        page = self.there[begin:begin + limit]
        answer = {'clustertemplates': [{'uuid': uuid} for uuid in page]}
        if len(page) == limit:
            answer['next'] = (f'http://magnum/?limit={limit}'
                              f'&marker={page[-1]}')
        return answer

    list_cluster_templates_detail = list_cluster_templates


class ListsTest(testtools.TestCase):

    def run_beside(self, name, others):
        test = test_lists.ListsTest(name)
        test.ours = OURS
        test.magnum = types.SimpleNamespace(templates=Templates(others))
        getattr(test, name)()

    def test_somebody_publishes_one_meanwhile(self):
        self.run_beside(
            'test_a_list_that_is_no_page_has_no_next',
            lambda asked, there: there.append(f'new {asked}'))

    def test_somebody_deletes_the_end_of_a_page(self):
        for name in ('test_pages_have_all_of_them_once',
                     'test_pages_of_details_have_all_of_them_once'):
            # It is at the end of the second page.
            self.run_beside(
                name, lambda asked, there: asked == 3 and there.remove(
                    'another'))

    def test_a_magnum_that_does_not_find_ours(self):
        def forget(asked, there):
            there[:] = [uuid for uuid in there if uuid != 'a' or asked == 1]

        error = self.assertRaises(
            lib_exc.NotFound, self.run_beside,
            'test_pages_have_all_of_them_once', forget)

        self.assertIn('ClusterTemplate a', str(error))

    def test_a_magnum_that_finds_no_marker(self):
        self.assertRaises(
            lib_exc.NotFound, self.run_beside,
            'test_pages_have_all_of_them_once',
            lambda asked, there: there.__setitem__(5, f'other {asked}'))
