# SPDX-License-Identifier: Apache-2.0

"""Folders of CNCF's AI conformance programme."""

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.conformance.submission import ai
from magnum_capi_tempest.conformance.submission import rules
from tests.unit.conformance import submissions

METADATA = {
    'kubernetesVersion': 'v1.36', 'platformName': 'Turbo Encabulator',
    'platformVersion': 'v1.7.4', 'vendorName': 'Yoyodyne',
    'websiteUrl': 'https://yoyo.example/te',
    'documentationUrl': 'https://yoyo.example/te/docs',
    'productLogoUrl': 'https://yoyo.example/te.svg',
    'description': 'Superb.', 'contactEmailAddress': 'te@yoyo.example',
    'k8sConformanceUrl': 'https://github.com/cncf/k8s-conformance/tree/master/'
                         'v1.36/te'}
MUST = {'id': 'gang_scheduling', 'level': 'MUST', 'status': 'Implemented',
        'evidence': '[gang.md]', 'notes': '""'}


class AiTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.folder = self.top / 'v1.36' / 'te'
        self.folder.mkdir(parents=True)
        (self.folder / 'gang.md').write_text('# It works\n')

    def write(self, *requirements, **metadata):
        lines = ['metadata:']
        lines += [f'  {field}: {value}' for field, value in
                  (METADATA | metadata).items() if value is not None]
        lines += ['spec:', '  schedulingOrchestration:']
        for one in requirements or (MUST,):
            pairs = [f'{key}: {value}' for key, value in one.items()]
            lines += [f'  - {pairs[0]}', *(f'    {pair}'
                                           for pair in pairs[1:])]
        (self.folder / 'PRODUCT.yaml').write_text('\n'.join(lines) + '\n')

    def found(self, *requirements, **metadata):
        """Rules, levels and texts of the findings."""
        self.write(*requirements, **metadata)
        return [(one.rule, one.level, one.text)
                for one in ai.check(self.folder)]

    def test_a_good_one(self):
        self.assertEqual([], self.found())
        self.assertEqual((), ai.check(self.top))
        self.assertEqual([], self.found(
            website_url=METADATA['websiteUrl'], websiteUrl=None))

    def test_a_folder_of_the_other_programme_is_none(self):
        place = submissions.write(self.top / 'other')
        for folder in (place, self.top / 'other', self.top / 'gone'):
            self.assertIsNone(ai.check(folder))
        for content in (b'', b'- a\n', b'metadata: {}\n', b'a: [\n'):
            (self.folder / 'PRODUCT.yaml').write_bytes(content)
            self.assertIsNone(ai.check(self.folder))

    def test_fields_of_its_metadata(self):
        for field, value, word in (
                ('vendorName', None, 'missing'), ('vendorName', '', 'empty'),
                ('platformName', '"[Platform Name]"', 'placeholder'),
                ('kubernetesVersion', 'v1.35', 'the folder is for v1.36'),
                ('websiteUrl', 'yoyo.example', 'https://'),
                ('repoUrl', 'git', 'https://'),
                ('productLogoUrl', 'https://yoyo.example/te.png', 'SVG'),
                ('contactEmailAddress', 'te', 'name@example.org'),
                ('k8sConformanceUrl', 'https://yoyo.example', 'the form is')):
            found, = self.found(**{field: value})

            self.assertEqual(('metadata', rules.ERROR), found[:2])
            self.assertIn(field, found[2])
            self.assertIn(word, found[2])

    def test_requirements(self):
        for changes, rule, level, word in (
                ({'status': 'N/A', 'notes': 'none'}, 'status', 'error',
                 'must be Implemented'),
                ({'status': '""'}, 'status', 'error', "'nothing' is not one"),
                ({'status': 'Done'}, 'status', 'error', "'Done' is not one"),
                ({'level': 'SHOULD', 'status': 'N/A'}, 'status', 'error',
                 'needs notes'),
                ({'evidence': '[]'}, 'evidence', 'warning', 'no evidence'),
                ({'evidence': '[gone.md]'}, 'evidence', 'error',
                 'gone.md: there is no such file'),
                ({'evidence': '["https://a b/"]'}, 'evidence', 'error',
                 'invalid characters'),
                ({'level': 'MAY'}, 'spec', 'error', 'a level of MUST'),
                ({'id': '""'}, 'spec', 'error', 'without an id')):
            found, = self.found(MUST | changes)

            self.assertEqual((rule, level), found[:2])
            self.assertIn(word, found[2])

    def test_what_is_in_order(self):
        for changes in (
                {'level': 'SHOULD', 'status': '""', 'evidence': '[]'},
                {'level': 'SHOULD', 'status': 'N/A', 'notes': 'no GPUs'},
                {'evidence': '["file://gang.md#Test", "https://a/b"]'}):
            self.assertEqual([], self.found(MUST | changes))

    def test_a_file_of_any_shape(self):
        for content in ('metadata: 1\nspec: 2\n', 'metadata: {}\nspec: {}\n',
                        'metadata: [a]\nspec: {a: b, c: [d, {e: [f]}]}\n'):
            (self.folder / 'PRODUCT.yaml').write_text(content)

            self.assertTrue(ai.check(self.folder))
