# SPDX-License-Identifier: Apache-2.0
"""The filter in front of the real Magnum: what passes, and what must not.

The requests that must not pass are also sent to Magnum without the filter,
which accepts most of them.
"""

import http.client
import json
import subprocess

from openstack import config
from openstack import connection
import testtools

from magnum_capi import waiting
from tests.functional import boxes
from tests.functional import cloud
from tests.functional.discovery import servers
from tests.system.discovery import spellings

OFF = 'k8s_capi_disabled_v1'
HELM = 'k8s_capi_helm_v1'
#: The only driver of the image SOLE_IMAGE.
SOLE, SOLE_IMAGE = 'k8s_capi_alias_v1', 'arch-capi'


class DiscoveryFilterTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = boxes.shared(cls, '--discovery-filter', '--clash')
        cls.layout = cls.box.sandbox.layout()
        cls.cloud = cloud.Cloud(cls.box.sandbox)
        cls.user = cls.cloud.user
        with cls.connection('sandbox') as demo:
            cls.cloud.seeded['images'][SOLE_IMAGE] = demo.image.create_image(
                SOLE_IMAGE, data=b'-', container_format='bare',
                disk_format='raw', validate_checksum=False,
                os_distro='arch', kube_version='v1.34.2').id

    @classmethod
    def connection(cls, cloud):
        clouds = config.OpenStackConfig(
            config_files=[str(cls.layout.directory / 'clouds.yaml')])
        return connection.Connection(config=clouds.get_one(cloud))

    def wanted(self, image='ubuntu-capi', **fields):
        return self.cloud.template_body(
            image, **{'name': 'filter', **fields})

    def raw(self, method, path, body, content_type=spellings.JSON, port=None):
        """Status of a request, sent unchanged."""
        http_ = http.client.HTTPConnection(
            self.layout.address, port or self.layout.port('magnum'),
            timeout=600)
        self.addCleanup(http_.close)
        http_.request(method, path, body, {
            'X-Auth-Token': self.user._session.headers['X-Auth-Token'],
            'Content-Type': content_type, 'Accept': 'application/json',
            'OpenStack-API-Version': 'container-infra latest'})
        return http_.getresponse().status

    def ask(self, method, path, body=None):
        return self.cloud.magnum(method, path, body)

    def delete(self, path):
        self.ask('DELETE', path)
        waiting.wait_for(lambda: self.ask('GET', path).status_code,
                         done=lambda status: status == 404, timeout=300,
                         what=f'{path} to be gone')

    def create(self, *args, **fields):
        answer = self.ask('POST', 'clustertemplates',
                          self.wanted(*args, **fields))
        if answer.ok:
            self.addCleanup(self.ask, 'DELETE',
                            f'clustertemplates/{answer.json()["uuid"]}')
        return answer

    def disabled(self):
        """Identifiers of the templates with the disabled driver."""
        return [t['uuid'] for t in self.ask(
            'GET', 'clustertemplates').json()['clustertemplates']
            if t['driver'] == OFF]

    def passed(self, requests, port=None):
        """How many of the requests gave a template the disabled driver."""
        statuses = [self.raw(*request, port=port) for request in requests]
        self.assertEqual(set(), {*statuses} - {200, 201, 400, 404, 405, 415})
        made = self.disabled()
        for uuid in made:
            self.ask('DELETE', f'clustertemplates/{uuid}')
        self.assertEqual(len(made), len(
            [status for status in statuses if status < 300]), statuses)
        return len(made)

    def templates(self):
        """Templates of the other driver, for updates."""
        while True:
            yield self.create(driver=HELM).json()['uuid']

    def all_passed(self, port=None):
        """:meth:`passed` for creations, updates, and other users' images."""
        made = zip(range(len(spellings.updates('', OFF))), self.templates())
        return (
            self.passed(spellings.creations(self.wanted(driver=OFF)), port),
            self.passed([spellings.updates(uuid, OFF)[number]
                         for number, uuid in made], port),
            self.passed([('POST', '/v1/clustertemplates', json.dumps(
                self.wanted() | {'image_id': image}), spellings.JSON)
                for image in self.images_of_others()], port))

    def images_of_others(self):
        """A shared and a community image that name the disabled driver."""
        admin, demo = map(self.connection, ('sandbox-admin', 'sandbox'))
        for visibility in ('shared', 'community'):
            image = admin.image.create_image(
                visibility, data=b'-', container_format='bare',
                disk_format='raw', visibility=visibility,
                validate_checksum=False, os_distro='ubuntu',
                magnum_driver=OFF)
            self.addCleanup(admin.image.delete_image, image.id)
            if visibility == 'shared':
                project = demo.current_project_id
                admin.image.add_member(image.id, member_id=project)
                demo.image.update_member(project, image.id, status='accepted')
            yield image.id

    def check_behind(self, server):
        """Nothing passes with the filter; without it, some requests do."""
        port = self.layout.port('magnum') + 1
        for filtered, through in ((False, (20, 4, 2)), (True, (0, 0, 0))):
            with server(self.layout, port, filtered):
                self.assertEqual(through, self.all_passed(port), filtered)

    def test_no_way_around_it(self):
        self.assertEqual((0, 0, 0), self.all_passed())

    def test_no_way_around_it_behind_uwsgi(self):
        self.check_behind(servers.Uwsgi)

    def test_no_way_around_it_behind_mod_wsgi(self):
        missing = servers.mod_wsgi_missing()
        if missing:
            self.skipTest(missing)
        self.check_behind(servers.ModWsgi)

    def explained(self, *argv):
        """Exit code and JSON of an operator's "discovery explain"."""
        ended = subprocess.run(
            [self.layout.magnum_env / 'bin' / 'magnum-capi', 'discovery',
             'explain', *argv, '-f', 'json', '--cloud', 'sandbox-admin',
             '--config-file', self.layout.magnum_conf[0],
             '--config-dir', self.layout.magnum_conf[1]],
            env={'OS_CLIENT_CONFIG_FILE': str(
                self.layout.directory / 'clouds.yaml'),
                'HOME': str(self.layout.directory / 'home')},
            capture_output=True, text=True, timeout=300)
        self.assertIn(ended.returncode, (0, 1), ended.stderr)
        return ended.returncode, json.loads(ended.stdout)

    def test_the_approved_order(self):
        mode = 'k8s_discovery.mode='
        self.addCleanup(self.box.call, 'set', mode)
        self.assertEqual(0, self.box.call('set', f'{mode}hibiscus').code)
        results = self.box.directory / 'hibiscus'
        ended = self.box.call(
            'tempest', '--output', results, '--regex',
            r'TwoDriversTest\.test_(the_first|nobody|refusal)')
        self.assertEqual(0, ended.code, ended.out + ended.err)
        counts = json.loads((results / 'report.json').read_text())
        self.assertEqual(
            {'test_the_first_by_name_is_taken': 'passed',
             'test_nobody_is_taken_silently': 'skipped',
             'test_refusal_names_the_candidates': 'skipped'},
            {test['name'].rpartition('.')[2]: test['status']
             for test in counts['tests']})
        self.assertIn(
            'which decides with [k8s_discovery]mode = hibiscus',
            self.box.sandbox.supervisor.log('magnum').read_text(
                errors='replace'))

    def test_a_refusal_is_one_line_of_the_log(self):
        log = self.box.sandbox.supervisor.log('magnum')
        for body, rule in ((self.wanted(), 'ambiguous'),
                           (self.wanted(driver=OFF), 'disabled driver')):
            [error] = self.ask('POST', 'clustertemplates', body).json()[
                'errors']
            # supervisord writes the log some time after the answer.
            line, = waiting.wait_for(
                lambda: [line for line in log.read_text(
                    errors='replace').splitlines() if (
                        f"template create '{error['request_id']}'") in line],
                done=bool, timeout=60, what='the refusal in the log')
            for part in ("template 'filter'", f'refused, {rule}',
                         f'refused with 400: {error["detail"]}'):
                self.assertIn(part, line)

    def test_what_is_stored_is_explained(self):
        template = self.create(SOLE_IMAGE).json()['uuid']
        other = self.create(SOLE_IMAGE).json()['uuid']
        answer = self.ask('POST', 'clusters', {
            'name': 'explained', 'cluster_template_id': template,
            'keypair': None, 'node_count': 1, 'master_count': 1})
        cluster = answer.json()['uuid']
        self.addCleanup(self.delete, f'clusters/{cluster}')
        for argv in (['--template', template], ['--cluster', cluster],
                     ['--upgrade', cluster, other]):
            code, told = self.explained(*argv)
            self.assertEqual((0, SOLE), (code, told['Driver']), told)

    def test_the_last_of_two_equal_keys_counts(self):
        first = json.dumps(self.wanted(driver=HELM))
        self.assertEqual(400, self.raw(
            'POST', '/v1/clustertemplates',
            f'{first[:-1]}, "driver": "{OFF}"}}'))

    def test_a_number_is_no_template(self):
        # For Magnum it is a row of its database.
        self.create(SOLE_IMAGE)
        for number in range(1, 4):
            self.assertEqual(404, self.ask('POST', 'clusters', {
                'name': 'c', 'cluster_template_id': str(number)}).status_code)

    def test_an_outage_of_glance_is_reported(self):
        # Without the filter: 400 "Image ... doesn't contain os_distro field".
        self.addCleanup(self.box.up)
        self.box.kill('glance')
        answer = self.create(SOLE_IMAGE)
        self.assertEqual(503, answer.status_code, answer.text)
        [error] = answer.json()['errors']
        self.assertIn('image service could not be asked', error['detail'])
        self.assertEqual([], self.ask(
            'GET', 'clustertemplates').json()['clustertemplates'])
