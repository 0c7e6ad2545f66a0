# SPDX-License-Identifier: Apache-2.0

"""Requests with bodies that are no JSON, unexpected JSON, or missing.

They refer to nothing that exists: a body that is wrongly accepted gets a 404.
"""

import itertools

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators

from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals

#: Bodies that are no JSON.
GARBAGE = {
    'an open bracket': '{',
    'a word': 'name=one',
    'no UTF-8': b'{"name": "\xff"}',
    'two objects': '{}{}',
    'a comma too much': '{"name": "one",}',
}

#: JSON that is not an object.
NO_OBJECTS = {
    'null': 'null', 'a number': '7', 'a text': '"one"', 'a list': '[]',
    'a list of objects': '[{"name": "one"}]',
}

#: JSON that is not a list of objects.
NO_PATCHES = {
    'null': 'null', 'a number': '7', 'a text': '"one"',
    'an object': '{"op": "replace"}', 'a list of nulls': '[null]',
    'a list of numbers': '[7]', 'an empty object in a list': '[{}]',
    'a list of lists': '[[]]',
}

#: Deeper than any parser supports.
DEEP = '[' * 5000


class BodiesTest(refusals.BaseRefusalsTest):

    # The highest microversion that added one of the resources.
    min_microversion = '1.9'
    # Members cannot set quotas, whatever the body.
    credentials = ['primary', 'admin']
    required_options = ()

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        nobody = data_utils.rand_uuid()
        #: (HTTP method, URL) -> client.
        cls.objects = {
            ('POST', 'clustertemplates'): cls.magnum.templates,
            ('POST', 'clusters'): cls.magnum.clusters,
            ('POST', f'clusters/{nobody}/actions/resize'):
                cls.magnum.clusters,
            ('POST', f'clusters/{nobody}/actions/upgrade'):
                cls.magnum.clusters,
            ('POST', f'clusters/{nobody}/nodegroups'): cls.magnum.nodegroups,
            ('POST', 'certificates'): cls.magnum.certificates,
            ('POST', 'quotas'): cls.admin_magnum.quotas,
            ('PATCH', f'quotas/{nobody}/Cluster'): cls.admin_magnum.quotas,
        }
        cls.patches = {
            ('PATCH', f'clustertemplates/{nobody}'): cls.magnum.templates,
            ('PATCH', f'clusters/{nobody}'): cls.magnum.clusters,
            ('PATCH', f'clusters/{nobody}/nodegroups/{nobody}'):
                cls.magnum.nodegroups,
        }

    def assert_all_refused(self, targets, bodies, kind='body',
                           expected=bad_input.REFUSED, headers=None):
        self.assert_refused_all((
            (kind, name, lambda client=client, target=target, text=text:
             client.send_text(*target, text, headers=headers),
             ' '.join(target))
            for (target, client), (name, text) in itertools.product(
                targets.items(), bodies.items())), expected)

    @decorators.idempotent_id('007bb245-8067-4652-8c0c-d94c1376121f')
    @decorators.attr(type='negative')
    def test_no_json(self):
        self.assert_all_refused({**self.objects, **self.patches}, GARBAGE)

    @decorators.idempotent_id('043e587b-3da0-4694-afb8-8dc97799bcce')
    @decorators.attr(type='negative')
    def test_no_object(self):
        self.assert_all_refused(self.objects, NO_OBJECTS, 'no object')

    @decorators.idempotent_id('6e84fb03-3db6-4564-bc82-6ab80c44df62')
    @decorators.attr(type='negative')
    def test_no_list_of_operations(self):
        self.assert_all_refused(self.patches, NO_PATCHES, 'no patch')

    @decorators.idempotent_id('d48c5499-37e0-4e60-bd83-4ff4c60a7d0b')
    @decorators.attr(type='negative')
    def test_an_empty_object(self):
        self.assert_all_refused(
            {target: client for target, client in self.objects.items()
             # All fields of a quota have defaults.
             if not target[1].startswith('quotas/')},
            {'nothing in it': '{}'}, 'empty object')

    @decorators.idempotent_id('f7e6f5d2-2d67-4b3e-8dee-78d14ade135d')
    @decorators.attr(type='negative')
    def test_json_without_a_bottom(self):
        self.assert_all_refused(
            {**self.objects, **self.patches}, {'5000 brackets': DEEP},
            'depth')

    @decorators.idempotent_id('a8a07015-2893-420b-abf3-499f344463cb')
    @decorators.attr(type='negative')
    def test_another_content_type(self):
        for content_type, text in (
                ('application/xml', '<name>one</name>'),
                ('application/x-www-form-urlencoded', 'name=one'),
                ('text/yaml', 'name: one')):
            self.assert_all_refused(
                {**self.objects, **self.patches}, {content_type: text},
                'content type', headers={'Content-Type': content_type})
