# SPDX-License-Identifier: Apache-2.0

"""Which driver served a cluster is seen by what it left behind."""


import testtools
from testtools import content

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import option_files
from magnum_capi_tempest.tests.common import driver_marks
from tests.unit.evidence import fake_kube
from tests.unit.evidence import test_helm
from tests.unit import test_driver_info

SECRETS = '/api/v1/secrets'

ONE = {'stack_id': 'a-.+',
       'objects': {r'Secret/sh\.helm\.release\.v1\.{stack_id}\.v[0-9]+':
                   '"by": "one"'},
       'deletion': {'Secret/{stack_id}-going': 'metadata'}}
OTHER = {'stack_id': '.+',
         'objects': {r'Secret/sh\.helm\.release\.v1\.{stack_id}\.v[0-9]+':
                     '"by": '}}


def options(**marks):
    return option_files.DiscoveryFixture(marks=marks)


def cluster(stack_id):
    return {'uuid': f'uuid-of-{stack_id}', 'stack_id': stack_id}


def revision(stack_id, number, by):
    return test_helm.release(stack_id, number, config={'by': by})


class ReadTest(testtools.TestCase):

    def test_those_of_drivers_that_are_known(self):
        found = driver_marks.of(options(), (
            'k8s_capi_helm_v1', 'k8s_cluster_api_ubuntu'))

        self.assertEqual('kube-[a-z0-9]{5}',
                         found['k8s_cluster_api_ubuntu'].stack_id)

    def test_those_of_clouds_are_not_alike(self):
        found = driver_marks.of(options(k8s_capi_v1=driver_info.parse(
            test_driver_info.OURS.read_text(), 'x').mark), (
            'k8s_capi_helm_v1', 'k8s_cluster_api_ubuntu', 'k8s_capi_v1'))
        for stack_id, name in (
                ('tempest-x-2b4c6d8e0f1a', 'k8s_capi_helm_v1'),
                ('kube-x7k2p', 'k8s_cluster_api_ubuntu'),
                ('c' + 32 * '0', 'k8s_capi_v1')):
            self.assertEqual([name], [
                mark.driver for mark in found.values()
                if not mark.lacks(stack_id)])

    def test_what_cannot_be_read(self):
        for wrong, said in (
                ({'x': {'stack_id': '('}}, 'not valid'),
                ({'x': {'colour': 'red'}}, 'not valid'),
                ({}, 'Nothing says')):
            error = self.assertRaises(
                errors.UsageError, driver_marks.of, options(**wrong), ('x',))
            self.assertIn(said, str(error))


class _Case(testtools.TestCase):

    management = None

    def runTest(self):
        """A test case that does nothing."""

    def not_checked(self, what, option):
        self.addDetail('not checked', content.text_content(what))


class AssertionsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve_management()
        self.kube.history[SECRETS] = []
        self.case = _Case()
        self.case.management = capi.ManagementCluster(self.kube.kubeconfig)
        self.read()

    def read(self, one=ONE, other=OTHER):
        self.marks = driver_marks.Marks(
            self.case, options(one=one, other=other), ('one', 'other'))

    def fails(self, call, *args):
        return str(self.assertRaises(AssertionError, call, *args))

    def serve(self, **by):
        self.kube.serve(SECRETS, *(
            revision(stack_id.replace('_', '-'), number, one)
            for stack_id, who in by.items()
            for number, one in enumerate(who, 1)))

    def apart(self, first, second):
        self.marks.assert_told_apart(
            {'one': cluster(first), 'other': cluster(second)})

    def test_each_driver_serves_its_cluster(self):
        self.serve(a_1=['one'], b_2=['other'])

        self.apart('a-1', 'b-2')

    def test_one_driver_serves_both(self):
        self.serve(a_1=['one'], a_2=['one'], b_1=['other'], b_2=['other'])

        self.assertIn('uuid-of-b-1', self.fails(self.apart, 'b-1', 'b-2'))
        self.assertIn('told apart', self.fails(self.apart, 'a-1', 'a-2'))

    def test_drivers_that_nothing_tells_apart(self):
        self.read(OTHER, OTHER)
        self.serve(b_1=['one'], b_2=['other'])

        self.assertIn('one and other cannot be told apart',
                      self.fails(self.apart, 'b-1', 'b-2'))

    def test_the_management_cluster_tells_them_apart(self):
        self.read({**ONE, 'stack_id': '.+'}, OTHER)
        self.serve(b_1=['one'], b_2=['other'])

        self.apart('b-1', 'b-2')

        self.case.management = None
        self.assertIn('management_kubeconfig is not set',
                      self.fails(self.apart, 'b-1', 'b-2'))

    def test_without_the_management_cluster_the_stack_id_counts(self):
        self.case.management = None

        self.apart('a-1', 'b-2')
        self.fails(self.apart, 'b-1', 'b-2')

    def test_a_run_that_can_see_nothing(self):
        self.case.management = None
        mark = {'objects': ONE['objects']}

        self.assertIn('management_kubeconfig is not set',
                      self.fails(self.read, mark))

    def test_an_operation_of_another_driver(self):
        def serve(*by):
            with self.marks.served_by('one', cluster('a-1')):
                self.serve(a_1=by)

        serve('one', 'one')
        self.assertIn('sh.helm.release.v1.a-1.v2 has no "by": "one"',
                      self.fails(serve, 'one', 'other', 'one'))

    def test_an_operation_that_fails_as_another_driver_served_it(self):
        def serve(*by):
            with self.marks.served_by('one', cluster('a-1')):
                self.serve(a_1=by)
                raise errors.WaitTimeout('resize')

        self.assertIn('uuid-of-a-1', self.fails(serve, 'one', 'other'))
        self.assertRaises(errors.WaitTimeout, serve, 'one')

    def delete(self, *changes, failing=False):
        with self.marks.deleted_by('one', cluster('a-1')):
            for how, name in changes:
                self.kube.change(SECRETS, how, {'metadata': {'name': name}}
                                 if 'helm' not in name
                                 else revision('a-1', 1, 'one'))
            if failing:
                raise errors.WaitTimeout('deletion')

    def test_a_deletion(self):
        self.delete(('ADDED', 'a-1-going'), ('DELETED', 'helm'))

    def test_a_deletion_of_another_driver(self):
        for failing in (False, True):
            self.assertIn('Another driver than one has deleted', self.fails(
                lambda: self.delete(('DELETED', 'helm'), failing=failing)))

    def test_a_deletion_that_fails(self):
        self.assertRaises(errors.WaitTimeout, self.delete,
                          ('ADDED', 'a-1-going'), failing=True)

    def test_a_deletion_that_nobody_can_see(self):
        self.case.management = None
        self.delete()
        self.assertIn('not checked', self.case.getDetails())
