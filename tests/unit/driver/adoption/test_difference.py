# SPDX-License-Identifier: Apache-2.0

"""What Helm would change, without secrets."""

import testtools
import yaml

from magnum_capi.driver.adoption import difference
from magnum_capi.driver.helm import releases


def made(kind, name, **fields):
    return {'apiVersion': 'v1', 'kind': kind, 'metadata': {'name': name},
            **fields}


class DifferenceTest(testtools.TestCase):

    def difference(self, now, then):
        return difference.difference(*(
            releases.parse(yaml.safe_dump_all(one)) for one in (now, then)))

    def test_same(self):
        found = [made('Cluster', 'c'), made('Secret', 's', data={'a': 'b'})]
        self.assertEqual('', self.difference(found, found))

    def test_only_what_differs(self):
        self.assertEqual(
            '--- Cluster/c\n+++ Cluster/c\n@@ -3,4 +3,4 @@\n'
            ' metadata:\n   name: c\n spec:\n-  a: 1\n+  a: 2',
            self.difference(
                [made('Cluster', 'c', spec={'a': 1}), made('Other', 'o')],
                [made('Other', 'o'), made('Cluster', 'c', spec={'a': 2})]))

    def test_fields_are_in_the_order_of_the_chart(self):
        text = 'kind: Cluster\nmetadata: {name: c}\nspec: {b: %s, a: 1}\n'
        found = difference.difference(*(
            releases.parse(text % value) for value in (1, 2)))
        self.assertIn('-  b: 1\n+  b: 2\n   a: 1', found)

    def test_label_that_all_objects_have_is_told_once(self):
        found = [made(kind, 'a') for kind in ('A', 'B', 'C')]
        for one in found:
            one['metadata']['labels'] = {'helm.sh/chart': 'c-1', 'a': 'b'}
        then = yaml.safe_load(yaml.safe_dump(found).replace('c-1', 'c-2'))
        then[1]['spec'] = {'a': 1}
        text = self.difference(found, then)
        self.assertIn('-    helm.sh/chart: c-1\n+    helm.sh/chart: c-2', text)
        self.assertEqual(1, text.count('--- '))
        self.assertTrue(text.endswith(
            '\n# Objects in which only the label helm.sh/chart differs: 2'))

    def test_other_labels_that_differ_are_shown(self):
        def labelled(one, other):
            return [{**made('A', name), 'metadata': {
                'name': name, 'labels': {'helm.sh/chart': one, key: other}}}
                for name, key in (('before', 'a'), ('behind', 'z'))]
        found = self.difference(labelled('c-1', 'old'), labelled('c-2', 'new'))
        for line in ('-    a: old', '+    a: new', '-    z: old',
                     '+    z: new'):
            self.assertIn(line, found)
        self.assertNotIn('# Objects', found)

    def test_what_comes_and_what_goes(self):
        found = self.difference([made('A', 'a')], [made('B', 'b')])
        self.assertIn('--- /dev/null\n+++ B/b\n', found)
        self.assertIn('--- A/a\n+++ /dev/null\n', found)

    def test_template_with_a_hash_is_compared_with_the_one_before(self):
        found = self.difference(
            [made('KubeadmConfigTemplate', 'c-g1-0a', spec={'a': 1}),
             made('KubeadmConfigTemplate', 'c-g2-0b', spec={'a': 1})],
            [made('KubeadmConfigTemplate', 'c-g1-ff', spec={'a': 2}),
             made('KubeadmConfigTemplate', 'c-g2-0b', spec={'a': 1})])
        self.assertIn('--- KubeadmConfigTemplate/c-g1-0a\n'
                      '+++ KubeadmConfigTemplate/c-g1-ff\n', found)
        self.assertNotIn('/dev/null', found)
        self.assertNotIn('g2', found)

    def test_several_that_could_be_the_one_before(self):
        for names in (('c-3',), ('c-3', 'c-4')):
            found = self.difference([made('A', 'c-1'), made('A', 'c-2')],
                                    [made('A', name) for name in names])
            self.assertEqual(2 + len(names), found.count('/dev/null'))

    def test_only_the_same_kind_and_stem_can_be_the_one_before(self):
        found = self.difference(
            [made(kind, name) for kind, name in (
                ('A', 'c-1'), ('B', 'c-1'), ('C', 'c-1'), ('B', 'b-1'),
                ('B', 'd-1'))], [made('B', 'c-2')])
        self.assertIn('--- B/c-1\n+++ B/c-2\n', found)
        self.assertEqual(4, found.count('+++ /dev/null'))

    def test_new_name_with_a_stem_that_nobody_had(self):
        self.assertIn('--- /dev/null\n+++ A/c-1\n',
                      self.difference([made('A', 'a')],
                                      [made('A', 'a'), made('A', 'c-1')]))

    def test_data_of_what_is_no_secret_is_shown(self):
        for kind in ('ConfigMap', 'Tuning'):
            found = self.difference([], [made(kind, 'a', data={'b': 'word'})])
            self.assertIn('+  b: word', found)

    def test_letters_beyond_ascii_are_shown_as_they_are(self):
        self.assertIn('+  a: Größe', self.difference(
            [], [made('A', 'a', spec={'a': 'Größe'})]))

    def test_secret(self):
        found = self.difference(
            [made('Secret', 's', stringData={'same': 'word1', 'gone': 'word3',
                                             'other': 'word2'})],
            [made('Secret', 's', stringData={'same': 'word1', 'new': 'word4',
                                             'other': 'word5'})])
        self.assertNotIn('word', found)
        self.assertIn('   same: <hidden>', found)
        self.assertIn('-  other: <hidden, as now>', found)
        self.assertIn('+  other: <hidden, another one>', found)
        self.assertIn('+  new: <hidden, another one>', found)

    def test_new_secret(self):
        found = self.difference([], [made('Secret', 's', data={'a': 'Z2g='})])
        self.assertNotIn('Z2g=', found)

    def test_secret_in_a_file_of_nodes(self):
        proxy = 'http_proxy=http://u:{}@proxy.example:3128\n'
        found = self.difference(*(
            [made('KubeadmControlPlane', 'c', spec={'files': [
                {'path': '/etc/p', 'content': proxy.format(word) + more}]})]
            for word, more in (('geheim1x', ''), ('geheim2x', 'b=1\n'))))
        self.assertNotIn('geheim', found)
        self.assertIn('+      b=1', found)

    def test_only_a_secret_in_a_file_of_nodes(self):
        found = self.difference(*(
            [made('KubeadmControlPlane', 'c', password=word)]
            for word in ('geheim-1x', 'geheim-2x')))
        self.assertEqual(
            '--- KubeadmControlPlane/c\n+++ KubeadmControlPlane/c\n'
            '# What differs is secret', found)

    def test_secret_in_a_long_line(self):
        # It was found only if its line was not broken before it.
        for length in range(50, 250):
            words = 'x' * length + ' --password geheim1x --url https://a'
            self.assertNotIn('geheim', self.difference(
                [], [made('Cluster', 'c', spec={'commands': [words]})]))

    def test_long_line_that_changes_is_one_line(self):
        now, then = ('word ' * 100 + end for end in ('here', 'there'))
        found = self.difference(*(
            [made('A', 'a', spec={'a': text})] for text in (now, then)))
        self.assertTrue(found.endswith(f'\n-  a: {now}\n+  a: {then}'))

    def test_long_text_is_shown_by_lines(self):
        found = self.difference(*(
            [made('ConfigMap', 'c', data={'a': f'first\n{word}\nlast\n'})]
            for word in ('old', 'new')))
        self.assertIn('     first\n-    old\n+    new\n     last', found)

    def test_what_looks_like_a_time_stays_a_text(self):
        found = releases.parse('kind: A\nmetadata: {name: a, b: 2026-01-01}')
        self.assertEqual('2026-01-01', found[0]['metadata']['b'])

    def test_documents_without_an_object(self):
        self.assertEqual([], releases.parse('---\n# nothing\n---\n'))
