# SPDX-License-Identifier: Apache-2.0

"""Lists of cluster templates: paging, order, completeness, no duplicates."""

from urllib import parse

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base

#: How often paging is restarted because others delete their templates.
TRIES = 3


class OthersGone(lib_exc.NotFound):
    """The last item of a page was deleted, and was not ours."""


class ListsTest(base.BaseMagnumCapiTest):
    """The templates of the class have a project to themselves."""

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        prefix = cls.rand_name('page')
        # Created in an order that differs from that of their names.
        cls.templates = [
            cls.create_class_template(name=f'{prefix}-{letter}')
            for letter in 'cadb']
        cls.ours = [t['uuid'] for t in cls.templates]

    def listed(self, **params):
        """Return the uuids of our templates in a list, in its order.

        The list also contains public templates of other projects.
        """
        return [uuid for uuid in self.uuids(
            self.magnum.templates.list_cluster_templates(**params))
            if uuid in self.ours]

    @staticmethod
    def uuids(answer):
        return [t['uuid'] for t in answer['clustertemplates']]

    def by(self, key, reverse=False):
        return [t['uuid'] for t in sorted(
            self.templates, key=lambda t: t[key], reverse=reverse)]

    def pages(self, ask, **params):
        """Return pages of uuids, following the links "next".

        Someone may delete the public template at the end of a page before the
        next page is requested; Magnum then does not find that marker.
        """
        for _ in range(TRIES - 1):
            try:
                return list(self.follow(ask, params))
            except OthersGone:
                continue
        return list(self.follow(ask, params))

    def follow(self, ask, params):
        while True:
            try:
                answer = ask(**params)
            except lib_exc.NotFound as e:
                if params.get('marker') in (None, *self.ours):
                    raise
                raise OthersGone(str(e)) from e
            page = self.uuids(answer)
            yield page
            if 'next' not in answer:
                return
            params = dict(parse.parse_qsl(parse.urlsplit(
                answer['next']).query))
            self.assertEqual(page[-1], params['marker'])

    @decorators.idempotent_id('452c35c4-1422-4820-baaf-ed7d8334d62a')
    @decorators.attr(type='smoke')
    def test_order_is_that_of_their_making_by_default(self):
        self.assertEqual(self.ours, self.listed())

    @decorators.idempotent_id('7a259ecf-f44a-4cf6-ad2a-4a21a5f79565')
    def test_sorted(self):
        self.assertEqual(self.by('name'), self.listed(sort_key='name'))
        self.assertEqual(self.by('name', reverse=True),
                         self.listed(sort_key='name', sort_dir='desc'))
        self.assertEqual(self.by('uuid'), self.listed(sort_key='uuid'))
        # Equal keys keep the order of their making.
        self.assertEqual(self.ours, self.listed(sort_key='coe'))

    @decorators.idempotent_id('b0a3cbb1-231e-4574-a5a7-38264008cbb4')
    def test_a_page_has_as_many_as_were_asked_for(self):
        answer = self.magnum.templates.list_cluster_templates(limit=2)

        self.assertEqual(2, len(answer['clustertemplates']))
        self.assertIn('next', answer)

    @decorators.idempotent_id('5861ba71-1117-4726-b144-e42d4a698648')
    def test_a_list_that_is_no_page_has_no_next(self):
        # Templates that others publish meanwhile come after ours.
        answer = self.magnum.templates.list_cluster_templates(
            limit=10 ** 20, marker=self.ours[-1])

        self.assertEqual([], [uuid for uuid in self.uuids(answer)
                              if uuid in self.ours])
        self.assertNotIn('next', answer)

    @decorators.idempotent_id('1831abb5-f191-4efb-bbae-6d3f6569430d')
    def test_pages_have_all_of_them_once(self):
        templates = self.magnum.templates
        # A marker is not in the list after it.
        self.assertEqual(self.ours[2:], self.listed(marker=self.ours[1]))
        for ask in (templates.list_cluster_templates,
                    templates.list_cluster_templates_detail):
            pages = self.pages(ask, limit=3)

            found = [uuid for page in pages for uuid in page]
            self.assertEqual(sorted(set(found)), sorted(found))
            self.assertEqual(self.ours, [u for u in found if u in self.ours])
            self.assertTrue(all(len(page) <= 3 for page in pages), pages)

    @decorators.idempotent_id('e9eb6d8d-b9fb-406e-9db8-2bae68e33ac7')
    def test_pages_keep_the_order_that_was_asked_for(self):
        pages = self.pages(
            self.magnum.templates.list_cluster_templates, limit=1,
            sort_key='name', sort_dir='desc')

        self.assertEqual(
            self.by('name', reverse=True),
            [uuid for page in pages for uuid in page if uuid in self.ours])
