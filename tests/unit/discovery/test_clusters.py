# SPDX-License-Identifier: Apache-2.0

import uuid

import fixtures
import testtools

from magnum_capi.discovery import answers
from magnum_capi.discovery import model
from tests.unit.discovery import scripted_magnum

HELM, ALIAS, OFF = (scripted_magnum.HELM, scripted_magnum.ALIAS,
                    scripted_magnum.OFF)


class ClusterTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.magnum = scripted_magnum.Magnum()
        self.app = scripted_magnum.filtered(self.magnum)

    def send(self, path, body):
        return scripted_magnum.send(self.app, 'POST', path, body)

    def check_refused(self, answer, *parts):
        self.assertEqual(400, answer.status_int)
        for part in parts:
            self.assertIn(part, scripted_magnum.detail(answer))
        self.assertEqual([], self.magnum.asked('POST'))


class CreateTest(ClusterTestCase):

    def create(self, template, **fields):
        return self.send('/v1/clusters',
                         fields | {'cluster_template_id': template})

    def test_a_good_template(self):
        template = self.magnum.add_template()
        answer = self.create(template, name='c', labels={'a': 'b'})
        self.assertEqual(202, answer.status_int)
        self.assertEqual(
            [('/v1/clusters', {'name': 'c', 'labels': {'a': 'b'},
                               'cluster_template_id': template})],
            self.magnum.asked('POST'))
        self.assertEqual(['secret'], self.magnum.users)

    def test_a_name_is_forwarded_as_uuid(self):
        # Between check and use the name may be given to another template.
        for name in ('mine', 'a b', 'é%41?x=1#y', '..', 'a/b', '../x',
                     'detail'):
            template = self.magnum.add_template(name)
            self.assertEqual(202, self.create(name).status_int)
            body = self.magnum.asked('POST')[-1][1]
            self.assertEqual(template, body['cluster_template_id'])

    def test_drivers_that_cannot_be_used(self):
        for fields, part in (
                ({'driver': OFF}, 'disabled'),
                ({'driver': 'gone'}, 'not installed'),
                ({'driver': scripted_magnum.BETA,
                  'cluster_distro': 'flatcar'}, 'beta'),
                ({'driver': ALIAS, 'cluster_distro': 'flatcar'},
                 'does not provide'),
                ({'driver': None, 'cluster_distro': 'x'},
                 'No usable driver'),
                ({'driver': None}, 'ambiguous')):
            template = self.magnum.add_template(**fields)
            answer = self.create(template)
            self.check_refused(answer, part, template,
                               'update its field driver')
            # The image does not count any more.
            self.assertNotIn('magnum_driver', scripted_magnum.detail(answer))

    def test_no_driver_and_one_provider(self):
        template = self.magnum.add_template(
            driver=None, cluster_distro='flatcar')
        self.assertEqual(202, self.create(template).status_int)

    def test_no_driver_and_a_default(self):
        # Magnum 23 takes the last loaded provider of the type then.
        template = self.magnum.add_template(driver=None)
        self.app = scripted_magnum.filtered(
            self.magnum, scripted_magnum.catalog(default_driver=HELM))
        self.check_refused(self.create(template), HELM,
                           'because [drivers]default_driver is', f'but '
                           f'Magnum would take {ALIAS!r}',
                           'update its field driver')
        self.app = scripted_magnum.filtered(
            self.magnum, scripted_magnum.catalog(default_driver=ALIAS))
        self.assertEqual(202, self.create(template).status_int)

    def test_an_unknown_uuid_is_magnums_to_refuse(self):
        unknown = str(uuid.uuid4())
        self.create(unknown)
        self.assertEqual(
            [('/v1/clusters', {'cluster_template_id': unknown})],
            self.magnum.asked('POST'))

    def test_an_unknown_name_is_not_forwarded(self):
        # It may be given to a template meanwhile. To Magnum 23 a number is a
        # row of its database: 202 for any row of the project.
        for name in ('other', '7', '0', '12345678901234567890123456789012'):
            answer = self.create(name)
            self.assertEqual((404, f'{name} could not be found.'), (
                answer.status_int, scripted_magnum.detail(answer)))
        self.assertEqual([], self.magnum.asked('POST'))

    def test_another_error_of_magnum_is_not_forwarded(self):
        def conflict(ident):
            raise answers.Refused(409, 'Several.')
        self.magnum.template_to_create_with = conflict
        for ident in ('x', str(uuid.uuid4())):
            self.assertEqual(409, self.create(ident).status_int)
        self.assertEqual([], self.magnum.asked('POST'))

    def test_what_is_no_uuid_or_name(self):
        for template in (None, 7, '', ' ', ['x'], {'a': 1}, True):
            self.check_refused(self.create(template),
                               'field/attribute cluster_template_id')
        self.check_refused(self.send('/v1/clusters', {}))


class UpgradeTest(ClusterTestCase):

    def setUp(self):
        super().setUp()
        self.old = self.magnum.add_template('old')
        self.cluster = self.magnum.add_cluster(self.old)

    def upgrade(self, template, ident='c'):
        return self.send(f'/v1/clusters/{ident}/actions/upgrade',
                         {'cluster_template': template, 'max_batch_size': 1})

    def check_forwarded(self, answer, template):
        self.assertEqual(202, answer.status_int)
        self.assertEqual(
            [(f'/v1/clusters/{self.cluster}/actions/upgrade',
              {'cluster_template': template, 'max_batch_size': 1})],
            self.magnum.asked('POST'))
        self.magnum.requests.clear()

    def test_what_is_accepted(self):
        flatcar = {'cluster_distro': 'flatcar'}
        for old, new in (
                ({}, flatcar),
                # A driver that was disabled goes on.
                ({'driver': OFF}, {'driver': OFF}),
                ({'driver': None, **flatcar}, {}),
                ({}, {'driver': None, **flatcar})):
            self.magnum.templates[self.old].update(
                {'driver': HELM, 'cluster_distro': 'ubuntu'} | old)
            template = self.magnum.add_template('new', **new)
            self.check_forwarded(self.upgrade('new'), template)
            del self.magnum.templates[template]

    def test_the_same_template_whatever_has_become_of_it(self):
        for fields in ({'driver': 'gone'},
                       {'driver': ALIAS, 'cluster_distro': 'flatcar'}):
            self.magnum.templates[self.old].update(fields)
            self.check_forwarded(self.upgrade('old'), self.old)

    def test_what_is_refused(self):
        another = 'cannot be given to another driver'
        for old, new, *parts in (
                ({}, {'driver': ALIAS}, HELM, ALIAS, another),
                ({'driver': ALIAS}, {}, HELM, ALIAS, another),
                ({'driver': OFF}, {}, OFF, HELM, another),
                ({}, {'driver': OFF}, 'disabled'),
                ({'driver': ALIAS},
                 {'driver': ALIAS, 'cluster_distro': 'flatcar'},
                 'does not provide'),
                ({'driver': None}, {}, f'served by the driver {ALIAS!r}',
                 f'the template is for {HELM!r}'),
                ({}, {'driver': None}, ALIAS, another)):
            self.magnum.templates[self.old].update({'driver': HELM} | old)
            template = self.magnum.add_template('new', **new)
            self.check_refused(self.upgrade('new'), *parts)
            del self.magnum.templates[template]

    def test_old_template_without_driver_and_several(self):
        # As Magnum's conductor, which asks no default for a cluster.
        for default in (None, ALIAS, HELM):
            self.app = scripted_magnum.filtered(
                self.magnum, scripted_magnum.catalog(default_driver=default))
            self.magnum.templates[self.old]['driver'] = None
            for driver in (ALIAS, None):
                new = self.magnum.add_template(f'to {driver}', driver=driver)
                self.check_forwarded(self.upgrade(new), new)

    def test_neither_names_a_driver(self):
        self.magnum.templates[self.old].update(
            driver=None, cluster_distro='flatcar')
        self.app = scripted_magnum.filtered(
            self.magnum, model.Catalog((
                model.Offer(HELM, (scripted_magnum.cluster_type('flatcar'),)),
                model.Offer(ALIAS, (scripted_magnum.cluster_type('ubuntu'),))
            )))
        self.magnum.add_template('new', driver=None)
        self.check_refused(self.upgrade('new'), 'another driver')

    def test_what_is_not_there(self):
        for template, ident in (('x', 'c'), ('old', 'x')):
            answer = self.upgrade(template, ident)
            self.assertEqual((404, 'x could not be found.'), (
                answer.status_int, scripted_magnum.detail(answer)))
        del self.magnum.templates[self.old]
        self.magnum.add_template('new')
        self.assertEqual(404, self.upgrade('new').status_int)
        self.assertEqual([], self.magnum.asked('POST'))

    def test_the_clusters_template_is_hidden(self):
        self.magnum.templates[self.old]['hidden'] = True
        new = self.magnum.add_template('new')
        self.check_forwarded(self.upgrade('new'), new)

    def test_what_is_no_uuid_or_name(self):
        for template in (None, 7, '', ['x']):
            self.check_refused(self.upgrade(template),
                               'field/attribute cluster_template.')
        self.check_refused(self.send(
            f'/v1/clusters/{self.cluster}/actions/upgrade', {}))

    def test_names_in_the_path(self):
        self.magnum.clusters[self.cluster]['name'] = 'é'
        self.check_forwarded(self.upgrade('old', '%c3%a9'), self.old)
        # No text at all.
        self.assertEqual(404, self.upgrade('old', '%e9').status_int)
