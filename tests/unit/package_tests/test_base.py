# SPDX-License-Identifier: Apache-2.0

"""What is skipped, and the reason that a person reads."""

import types
import unittest
import unittest.mock

import fixtures
import testtools

from magnum_capi_tempest.leaks import record
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import notes


class Options(dict):
    """Options as oslo.config gives them: by attribute and by name."""

    __getattr__ = dict.__getitem__


class SkipTest(testtools.TestCase):

    def skip_checks(self, available=True, **options):
        options = Options({'image_id': 'i', 'flavor_id': 'f',
                           'external_network': 'n',
                           'not_promised': [], **options})
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.base.CONF',
            types.SimpleNamespace(
                service_available=Options(magnum_capi=available),
                magnum_capi=options)))

        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.flags.CONF',
            types.SimpleNamespace(magnum_capi=options)))

        @flags.promise('lifecycle.resize.workers')
        class ATest(base.BaseMagnumCapiTest):
            def test_of_the_class(self):
                pass

            @flags.promise('lifecycle.resize.last-wins')
            def test_of_its_own(self):
                pass

        ATest.skip_checks()

    def reason(self, **kwargs):
        return str(self.assertRaises(
            unittest.SkipTest, self.skip_checks, **kwargs))

    def test_nothing_is_skipped_when_all_is_set(self):
        self.assertIsNone(self.skip_checks())

    def test_cloud_without_magnum(self):
        self.assertEqual(
            '[service_available] magnum_capi is false in tempest.conf',
            self.reason(available=False))

    def test_missing_options_are_named(self):
        self.assertEqual(
            'Not set in [magnum_capi] of tempest.conf: image_id, flavor_id',
            self.reason(image_id='', flavor_id=''))

    def test_a_driver_that_promises_nothing_of_it(self):
        workers, last = 'lifecycle.resize.workers', 'last_resize_wins'

        self.assertIsNone(self.skip_checks(not_promised=[workers]))
        self.assertIsNone(self.skip_checks(not_promised=[last]))
        self.assertEqual(
            'lifecycle.resize.last-wins is in [magnum_capi] not_promised',
            self.reason(not_promised=[workers, last]))

    def test_microversion_that_the_cloud_does_not_have(self):

        class ATest(base.BaseMagnumCapiTest):
            newest_microversion = '1.8'

        ATest.require_microversions('1.8')
        self.assertIn('[1.1 - 1.8]', str(self.assertRaises(
            unittest.SkipTest, ATest.require_microversions, '1.9')))

    def test_another_promise_that_a_class_or_a_test_needs(self):
        needs = 'lifecycle.resize.workers'

        class ATest(base.BaseMagnumCapiTest):

            @flags.needs('discovery.disabled.refused')
            def test_of_its_own(self):
                pass

            def test_that_needs_nothing(self):
                pass

        def refused(*not_promised):
            self.useFixture(fixtures.MonkeyPatch(
                f'{flags.__name__}.CONF', types.SimpleNamespace(
                    magnum_capi=Options(not_promised=not_promised))))
            return [flags.refusal(ATest, name) for name in (
                'test_of_its_own', 'test_that_needs_nothing')]

        said = '{} is in [magnum_capi] not_promised'.format
        self.assertEqual(['', ''], refused(needs))
        self.assertEqual([said('discovery.disabled.refused'), ''],
                         refused('discovery'))
        ATest.needs = (needs,)
        self.assertEqual([said(needs)] * 2, refused(needs))
        self.assertRaises(LookupError, flags.needs, 'lifecycle.of.nobody')

    def test_an_option_of_another_group(self):
        needs = ('auth.use_dynamic_credentials', 'service_available.glance',
                 'three_masters')

        def lacking(dynamic, glance, room=True):
            self.useFixture(fixtures.MonkeyPatch(
                f'{flags.__name__}.CONF', types.SimpleNamespace(
                    magnum_capi=Options(not_promised=[]),
                    auth=Options(use_dynamic_credentials=dynamic),
                    service_available=Options(glance=glance),
                    magnum_capi_feature_enabled=Options(
                        three_masters=room))))
            return flags.lacking(needs)

        self.assertEqual('', lacking(True, True))
        self.assertIn('[auth] use_dynamic_credentials is false: ',
                      lacking(False, True))
        self.assertEqual('[service_available] glance is false',
                         lacking(True, False))
        self.assertEqual(
            '[magnum_capi_feature_enabled] three_masters is false',
            lacking(True, True, room=False))
        self.assertRaises(LookupError, flags.needs, 'auth.other')


class RecordTest(testtools.TestCase):

    def test_templates_of_an_admin_are_recorded(self):
        folder = self.useFixture(fixtures.TempDir()).path
        for name in ('create_template', 'template_body'):
            self.useFixture(fixtures.MonkeyPatch(
                f'{base.__name__}.factories.{name}',
                lambda *args, **kwargs: {'uuid': 't', 'name': 'n'}))
        test = unittest.mock.Mock(
            _own_watch=watch.Watch(None, user='u', project='p', test='t',
                                   folder=folder))
        test._made = lambda *args: base.BaseMagnumCapiTest._made(test, *args)
        test.os_admin.credentials = types.SimpleNamespace(
            user_id='admin', project_id='a')

        for magnum in (None, test.admin_magnum):
            base.BaseMagnumCapiTest.create_template(test, magnum)

        self.assertEqual([('u', 'p'), ('admin', 'a')], [
            (made.user, made.project) for made in record.read(folder)])


class ToleratedTest(testtools.TestCase):

    def test_the_next_test_tells_what_a_class_met(self):
        recorded = notes.Notes()
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.base._NOTES', recorded))

        class ATest(base.BaseMagnumCapiTest):

            def test(self):
                pass

        class Other(ATest):
            pass

        for met_by, number in ((ATest, 1), (Other, 2)):
            recorded.tolerate(met_by.__name__, 'GET cluster c',
                              f'the {number}.\n  of them')
        first, second = Other('test'), Other('test')

        for test in (first, second):
            test._attach_notes()

        told, = [detail.as_text() for name, detail in
                 first.getDetails().items() if name.startswith('tolerated')]
        self.assertEqual('ATest, GET cluster c: the 1. of them\n'
                         'Other, GET cluster c: the 2. of them', told)
        self.assertEqual({}, second.getDetails())
