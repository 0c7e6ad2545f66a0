# SPDX-License-Identifier: Apache-2.0

"""Requests to the real Magnum's application that the filter must not break.

Each is sent with the filter and without it; the rows are written directly into
the database.
"""

import json
import pathlib
import subprocess
import tempfile
import uuid

import testtools

import magnum_capi
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases

_SCRIPT = pathlib.Path(__file__).with_name('application.py')
_LIBRARY = pathlib.Path(magnum_capi.__file__).parents[1]
HELM = 'helm_v1'


class ApplicationTestCase(testtools.TestCase):

    release = '23'

    def setUp(self):
        super().setUp()
        self.drivers = {HELM: ['ubuntu']}
        self.images = {'i': {'os_distro': 'ubuntu'}}
        self.templates = []
        self.clusters = []

    def template(self, **fields):
        made = {'uuid': str(uuid.uuid4()), 'name': 't', 'driver': HELM}
        self.templates.append(made | fields)
        return made['uuid']

    def cluster(self, template):
        made = {'uuid': str(uuid.uuid4()), 'cluster_template_id': template}
        self.clusters.append(made | {'name': 'c'})
        return made['uuid']

    def answers(self, *requests, with_filter=True):
        """(status, text) of each request."""
        python = environment.ensure(
            progress.Progress(), releases.get(self.release)) / 'bin/python'
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [python, '-W', 'ignore', _SCRIPT, folder],
                env={'PYTHONPATH': str(_LIBRARY)},
                input=json.dumps({
                    'filter': with_filter, 'drivers': self.drivers,
                    'images': self.images,
                    'templates': self.templates, 'clusters': self.clusters,
                    'requests': requests}),
                capture_output=True, text=True, timeout=300)
        if ended.returncode:
            raise AssertionError(ended.stderr)
        return json.loads(ended.stdout)


class UpgradeTest(ApplicationTestCase):

    def test_a_reader_may_not(self):
        template = self.template()
        self.cluster(template)
        [(status, text)] = self.answers({
            'method': 'POST', 'path': '/v1/clusters/c/actions/upgrade',
            'body': {'cluster_template': template}, 'roles': 'reader'})
        self.assertEqual(403, status, text)

    def check_as_without(self, **old):
        new = self.template(name='new', project_id='operator', public=True)
        cluster = self.cluster(self.template(
            name='old', project_id='operator', **old))
        request = {'method': 'POST', 'body': {'cluster_template': new},
                   'path': f'/v1/clusters/{cluster}/actions/upgrade'}
        for with_filter in (False, True):
            [(status, text)] = self.answers(request, with_filter=with_filter)
            self.assertEqual(202, status, (with_filter, text))

    def test_the_old_template_was_hidden(self):
        self.check_as_without(public=True, hidden=True)

    def test_the_old_template_was_made_private(self):
        self.check_as_without(public=False)

    def test_templates_of_before_drivers_had_names(self):
        self.drivers = {HELM: ['ubuntu'], 'other_v1': ['ubuntu']}
        new = self.template(name='new', driver=None)
        cluster = self.cluster(self.template(name='old', driver=None))
        for with_filter in (False, True):
            [(status, text)] = self.answers(
                {'method': 'POST', 'body': {'cluster_template': new},
                 'path': f'/v1/clusters/{cluster}/actions/upgrade'},
                with_filter=with_filter)
            self.assertEqual(202, status, (with_filter, text))


class AuthorizationTest(ApplicationTestCase):

    def test_a_reader_learns_nothing_of_drivers(self):
        template = self.template(driver='gone')
        for roles in ('reader', ''):
            answers = self.answers(
                {'method': 'POST', 'path': '/v1/clusters', 'roles': roles,
                 'body': {'name': 'c', 'cluster_template_id': template}},
                {'method': 'POST', 'path': '/v1/clustertemplates',
                 'roles': roles,
                 'body': {'name': 't', 'image_id': 'i', 'driver': 'gone',
                          'coe': 'kubernetes'}},
                {'method': 'PATCH', 'roles': roles,
                 'path': f'/v1/clustertemplates/{template}',
                 'body': [{'op': 'replace', 'path': '/driver',
                           'value': 'off'}]})
            for status, text in answers:
                self.assertEqual(403, status, (roles, text))


class DistroTest(ApplicationTestCase):

    def test_one_that_is_not_the_images(self):
        self.drivers = {HELM: ['ubuntu', 'flatcar']}
        template = self.template()
        [(status, text)] = self.answers({
            'method': 'PATCH', 'path': f'/v1/clustertemplates/{template}',
            'body': [{'op': 'replace', 'path': '/cluster_distro',
                      'value': 'flatcar'}]})
        self.assertEqual(400, status, text)
        self.assertIn('ubuntu', text)


class ReadingTest(ApplicationTestCase):
    """Templates are read as Magnum's own controllers read them."""

    def test_which_template_is_judged(self):
        self.drivers = {HELM: ['ubuntu'], 'other_v1': ['ubuntu']}
        mine = self.template(driver=None, name='a/b')
        self.template(driver='gone', name='detail')
        public = self.template(driver='gone', public=True,
                               project_id='operator')
        foreign = self.template(driver='gone', name='foreign',
                                project_id='operator')
        unknown = str(uuid.uuid4())
        idents = (mine, 'a/b', 'detail', public, foreign, 'foreign', unknown,
                  'nobody', '2', '4')
        requests = [{'method': 'POST', 'path': '/v1/clusters',
                     'body': {'name': 'c', 'cluster_template_id': ident}}
                    for ident in idents]
        found = dict(zip(idents, self.answers(*requests)))
        for ident in (mine, 'a/b'):
            self.check(found[ident], 400, 'is ambiguous')
        # Magnum takes a number for that of the row.
        for ident in ('detail', public, '2'):
            self.check(found[ident], 400, "'gone', named by the cluster")
        for ident in ('foreign', 'nobody', '4'):
            self.check(found[ident], 404, f'{ident} could not be found')
        # Magnum's own answer, whatever it is in this release.
        for ident in (foreign, unknown):
            [own] = self.answers(requests[idents.index(ident)],
                                 with_filter=False)
            self.assertEqual(own, found[ident])

    def test_which_template_is_changed(self):
        self.template(name='mine')
        foreign = self.template(public=True, project_id='operator')
        found = self.answers(*(
            {'method': 'PATCH', 'path': f'/v1/clustertemplates/{ident}',
             'body': [{'op': 'replace', 'path': '/driver', 'value': 'no'}]}
            for ident in ('mine', foreign, 'nobody')))
        self.check(found[0], 400, "The driver 'no', named by the cluster")
        self.check(found[1], 403, 'Policy')
        self.check(found[2], 404, 'nobody could not be found')

    def check(self, answer, status, text):
        self.assertEqual(status, answer[0], answer)
        self.assertIn(text, json.loads(answer[1])['errors'][0]['detail'])


class Reading20Test(ReadingTest):
    release = '20'
