# SPDX-License-Identifier: Apache-2.0

import json
import re

import fixtures
import testtools

from magnum_capi.discovery import images
from magnum_capi.discovery import model
from tests.unit.discovery import scripted_magnum

HELM, ALIAS, OFF = (scripted_magnum.HELM, scripted_magnum.ALIAS,
                    scripted_magnum.OFF)
TEMPLATES = '/v1/clustertemplates'


class TemplateTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.magnum = scripted_magnum.Magnum()
        self.app = scripted_magnum.filtered(self.magnum)

    def create(self, image='flatcar', **fields):
        wanted = {'name': 't', 'image_id': image, 'coe': 'kubernetes'}
        return scripted_magnum.send(
            self.app, 'POST', TEMPLATES, wanted | fields)

    def check_answer(self, status, part, answer):
        self.assertEqual(status, answer.status_int)
        self.assertIn(part, scripted_magnum.detail(answer))

    def check_refused(self, answer, part, status=400):
        self.check_answer(status, part, answer)
        self.assertEqual({}, self.magnum.templates)


class CreateTest(TemplateTestCase):

    def test_the_driver_is_stored(self):
        for image, fields, driver in (
                ('flatcar', {}, HELM), ('helm', {}, HELM),
                ('helm', {'driver': ALIAS}, ALIAS),
                ('ubuntu', {'driver': f' {ALIAS} '}, ALIAS)):
            self.magnum.requests.clear()
            answer = self.create(image, **fields)
            self.assertEqual((201, driver),
                             (answer.status_int, answer.json['driver']))
            self.assertEqual(1, len(self.magnum.requests))

    def test_the_image_is_read_once_as_the_user(self):
        self.create()
        self.assertEqual((['flatcar'], ['secret']),
                         (self.magnum.images.read_, self.magnum.users))

    def test_all_else_is_forwarded_as_it_is(self):
        labels = {'a': 'é<&', 'b': 1.5, 'c': True}
        self.create(labels=labels, driver=None, tags='')
        [(_, body)] = self.magnum.asked('POST')
        self.assertEqual(
            {'name': 't', 'image_id': 'id-flatcar', 'coe': 'kubernetes',
             'labels': labels, 'driver': HELM, 'cluster_distro': 'flatcar',
             'tags': ''}, body)
        for given in ('ubuntu', '', 7):
            self.create(cluster_distro=given)
            self.assertEqual(given, self.magnum.asked('POST')[-1][1][
                'cluster_distro'])

    def test_an_image_that_gets_the_name_meanwhile_is_not_taken(self):
        # Read by name from here on, as Magnum would.
        read = self.magnum.images.read

        def read_and_swap(ident):
            found = read(ident)
            self.magnum.images.known['id-flatcar'] = (
                self.magnum.images.known['flatcar'])
            self.magnum.images.known['flatcar'] = {'os_distro': 'ubuntu'}
            return found
        self.magnum.images.read = read_and_swap

        answer = self.create('flatcar')

        self.assertEqual((201, 'flatcar', 'id-flatcar'), (
            answer.status_int, answer.json['cluster_distro'],
            answer.json['image_id']))

    def test_refusals(self):
        for image, fields, part in (
                ('ubuntu', {}, 'ambiguous'),
                ('ubuntu', {'driver': OFF}, 'disabled'),
                ('ubuntu', {'driver': 'x'}, 'not installed'),
                ('flatcar', {'driver': ALIAS}, 'does not provide'),
                # Magnum does not look at the image then (D11).
                ('flatcar', {'driver': ALIAS, 'cluster_distro': 'ubuntu'},
                 'does not provide'),
                ('flatcar', {'driver': scripted_magnum.BETA}, 'beta'),
                ('flatcar', {'server_type': 'bm'}, 'No usable driver'),
                ('flatcar', {'coe': 'swarm'}, 'No usable driver')):
            self.check_refused(self.create(image, **fields), part)
        self.assertEqual([], self.magnum.requests)

    def test_magnums_own_refusal_is_the_answer(self):
        # Nothing but 201 says that there is a template.
        for status in (200, 202, 403, 500):
            self.magnum.broken['POST', 'clustertemplates'] = status
            self.check_answer(status, 'broken', self.create())

    def test_what_magnum_must_refuse_itself(self):
        bad = ({'image_id': None}, {'image_id': 7}, {'image_id': ''},
               {'coe': None}, {'coe': ['a']}, {'driver': 5}, {'driver': ''},
               {'server_type': None})
        self.magnum.broken['POST', 'clustertemplates'] = 400
        for fields in bad:
            self.check_answer(400, 'broken', self.create(**fields))
        self.assertEqual([], self.magnum.images.read_)
        del self.magnum.broken['POST', 'clustertemplates']
        for fields in ({'driver': 5}, {'coe': None}, {'server_type': 1}):
            self.check_refused(self.create(**fields), 'deleted again', 409)


class MagnumDistroTest(TemplateTestCase):

    def test_it_is_stored_and_answered(self):
        # Users need no right to update or delete, nor flavors.
        for method in ('PATCH', 'DELETE'):
            self.magnum.broken[method, 'clustertemplates'] = 403
        answer = self.create('renamed')
        [template] = self.magnum.templates.values()
        self.assertEqual(('flatcar', HELM), (
            template['cluster_distro'], template['driver']))
        self.assertEqual((201, template), (answer.status_int, answer.json))
        self.assertEqual(
            f'http://magnum.example{TEMPLATES}/{template["uuid"]}',
            answer.headers['Location'])

    def test_it_cannot_be_stored(self):
        self.magnum.broken['set_decided'] = RuntimeError('no')
        self.check_refused(self.create('renamed'),
                           'The new template is deleted again.', 500)
        self.magnum.broken['delete_template'] = RuntimeError('no')
        answer = self.create('renamed')
        [uuid] = self.magnum.templates
        self.check_answer(500, f'{uuid} could not be deleted', answer)

    def test_magnum_does_not_say_what_it_stored(self):
        for made in ({'body': b'<html>'}, *({'json_body': found} for found in (
                {}, {'uuid': 7}, ['uuid'], 'uuid', None))):
            self.magnum._json = lambda status, _: \
                scripted_magnum.webob.Response(status=status, **made)
            self.check_answer(500, 'Look for the template', self.create())

    def test_magnum_stores_another_driver(self):
        # That of the image, as Magnum does before 23, or none.
        made = self.magnum.add_template
        for other in (OFF, f'a{HELM}', None):
            self.magnum.add_template = lambda **fields: made(
                **fields | {'driver': other})
            answer = self.create('renamed')
            self.assertEqual((201, HELM, 'flatcar'), (
                answer.status_int, answer.json['driver'],
                answer.json['cluster_distro']))
            self.assertEqual(
                answer.json, self.magnum.templates[answer.json['uuid']])

    def test_magnum_stores_another_type(self):
        made = self.magnum.add_template
        for other in ({'coe': 'swarm'}, {'server_type': 'bm'}):
            self.magnum.add_template = lambda **fields: made(**fields | other)
            self.check_refused(
                self.create(), 'differs from the decision', 500)


class ImageTroubleTest(TemplateTestCase):

    def test_an_image_that_cannot_be_seen_is_magnums_to_refuse(self):
        self.check_refused(self.create('unknown'), 'The image is none.')

    def test_it_can_be_seen_a_moment_later(self):
        read = self.magnum.images.read

        def late(ident):
            self.magnum.images.known['late'] = {'os_distro': 'ubuntu'}
            return read('unknown')
        self.magnum.images.read = late
        self.check_refused(self.create('late'), 'deleted again', 409)

    def test_glance_is_out(self):
        uuid = self.magnum.add_template()
        for status in (401, 502, 503):
            self.magnum.images.known['flatcar'] = images.Unavailable(
                status, 'The image service could not be asked.')
            for answer in (self.create(), scripted_magnum.send(
                    self.app, 'PATCH', f'{TEMPLATES}/{uuid}',
                    [{'op': 'add', 'path': '/image_id',
                      'value': 'flatcar'}])):
                self.check_answer(status, 'could not be asked', answer)
        self.assertEqual([], self.magnum.requests)


REMOVE = {'op': 'remove', 'path': '/driver'}


def replace(field, value):
    return {'op': 'replace', 'path': f'/{field}', 'value': value}


class UpdateTest(TemplateTestCase):

    def setUp(self):
        super().setUp()
        self.uuid = self.magnum.add_template()
        self.stored = self.magnum.templates[self.uuid]

    def patch(self, *operations, ident='t'):
        return scripted_magnum.send(
            self.app, 'PATCH', f'{TEMPLATES}/{ident}', list(operations))

    def forwarded(self):
        [(path, body)] = self.magnum.asked('PATCH')
        self.assertEqual(f'{TEMPLATES}/{self.uuid}', path)
        return body

    def test_other_fields_pass(self):
        operations = [replace('name', 'new'),
                      {'op': 'add', 'path': '/labels/driver', 'value': 'x'}]
        self.patch(*operations)
        self.assertEqual([('PATCH', f'{TEMPLATES}/t', '', operations)],
                         self.magnum.requests)

    def test_what_is_forwarded(self):
        other = {'op': 'add', 'path': '/labels/a', 'value': 'x'}
        for stored, operations, forwarded in (
                ({}, [replace('driver', ALIAS)], [replace('driver', ALIAS)]),
                ({}, [other, {'op': 'remove', 'path': '/a'},
                      replace('driver', ALIAS)],
                 [other, {'op': 'remove', 'path': '/a'},
                  replace('driver', ALIAS)]),
                # A new image brings its distro, whatever is beside it.
                ({}, [replace('image_id', 'renamed')],
                 [replace('image_id', 'id-renamed'),
                  replace('cluster_distro', 'flatcar')]),
                ({}, [replace('image_id', 'flatcar'),
                      replace('cluster_distro', 'ubuntu')],
                 [replace('image_id', 'id-flatcar'),
                  replace('cluster_distro', 'ubuntu'),
                  replace('cluster_distro', 'flatcar')]),
                ({'driver': ALIAS}, [REMOVE, replace('image_id', 'flatcar')],
                 [replace('image_id', 'id-flatcar'), replace('driver', HELM),
                  replace('cluster_distro', 'flatcar')]),
                # To remove the driver is to choose again.
                ({'driver': ALIAS, 'image_id': 'helm'}, [REMOVE],
                 [replace('driver', HELM)]),
                ({'image_id': 'helm'}, [REMOVE], []),
                ({'driver': None, 'image_id': 'helm'},
                 [replace('cluster_distro', 'ubuntu')],
                 [replace('cluster_distro', 'ubuntu'),
                  replace('driver', HELM)]),
                # The distro of the image may be put right.
                ({'cluster_distro': 'flatcar'},
                 [replace('cluster_distro', 'ubuntu')],
                 [replace('cluster_distro', 'ubuntu')])):
            self.setUpAgain(**stored)
            self.magnum._answer = self.answered(forwarded)
            answer = self.patch(*operations)
            self.assertEqual(200, answer.status_int, operations)
            self.assertEqual(forwarded, self.forwarded())

    def setUpAgain(self, **stored):
        self.magnum.requests.clear()
        self.stored.update({
            'driver': HELM, 'image_id': 'ubuntu', 'cluster_distro': 'ubuntu',
            **stored})

    def answered(self, operations):
        """Magnum's answer to these, without those on other fields."""
        def answer(method, parts, body):
            for op in operations:
                if op['op'] == 'replace':
                    self.stored[op['path'][1:]] = op['value']
            return self.magnum._json(200, self.stored)
        return answer

    def test_the_image_is_not_read_without_need(self):
        self.patch(replace('driver', ALIAS))
        self.patch(replace('cluster_distro', 'ubuntu'))
        self.patch(replace('image_id', 'ubuntu'))
        self.assertEqual([], self.magnum.images.read_)

    def test_refusals(self):
        for operations, part in (
                ([('driver', OFF)], 'disabled'),
                ([('driver', 'x')], 'not installed'),
                ([('cluster_distro', 'x')], 'does not provide'),
                ([('coe', 'swarm')], 'does not provide'),
                ([('server_type', 'bm')], 'does not provide'),
                ([('driver', ALIAS), ('driver', OFF)], 'disabled'),
                ([('cluster_distro', 'flatcar'), ('driver', ALIAS)],
                 'does not provide'),
                ([('cluster_distro', 'flatcar')],
                 "says 'ubuntu', not 'flatcar'"),
                ([('image_id', 'unknown')], 'cannot be used')):
            self.check_answer(400, part, self.patch(
                *(replace(*o) for o in operations)))
        self.check_answer(400, 'ambiguous', self.patch(REMOVE))
        self.assertEqual([], self.magnum.asked('PATCH'))

    def test_the_way_out_is_told_to_whom_it_helps(self):
        way_out = ('To have a driver chosen again, send the operation '
                   '{"op": "remove", "path": "/driver"} too.')
        self.stored['driver'] = ALIAS
        for field, value in (('coe', 'swarm'), ('cluster_distro', 'flatcar'),
                             ('server_type', 'bm'), ('image_id', 'flatcar')):
            self.check_answer(400, way_out, self.patch(replace(field, value)))
        # They have chosen themselves, or had it chosen.
        for driver, operations in (
                (ALIAS, [replace('driver', OFF)]),
                (ALIAS, [REMOVE, replace('coe', 'swarm')]),
                (None, [replace('coe', 'swarm')])):
            self.stored['driver'] = driver
            self.assertNotIn(way_out, scripted_magnum.detail(
                self.patch(*operations)))
        self.assertEqual([], self.magnum.asked('PATCH'))

    def test_magnums_own_refusal_is_the_answer(self):
        for status in (201, 409, 500):
            self.magnum.broken['PATCH', 'clustertemplates'] = status
            self.check_answer(status, 'broken',
                              self.patch(replace('driver', ALIAS)))
        self.check_answer(404, 'other could not be found.', self.patch(
            replace('driver', ALIAS), ident='other'))
        self.magnum.denied = ('clustertemplate:update',)
        self.check_answer(403, 'policy', self.patch(replace('driver', ALIAS)))

    def test_somebody_else_is_faster(self):
        answer = self.magnum._answer

        def slow(method, parts, body):
            if method == 'PATCH':
                self.stored['cluster_distro'] = 'x'
            return answer(method, parts, body)
        self.magnum._answer = slow
        self.check_answer(409, 'at the same time',
                          self.patch(replace('driver', ALIAS)))

    def test_spellings_that_might_touch_it(self):
        # All but the last three are refused by Magnum too, some with a 500.
        for operation in (
                replace('', 'x'), replace('/driver', OFF),
                replace('driver/', OFF), replace('driver\n', OFF),
                replace('Driver', OFF), replace('driver/x', OFF),
                {'op': 'replace', 'path': '', 'value': {}},
                {'op': 'replace', 'path': 'driver', 'value': OFF},
                {'op': 'replace', 'path': '0driver', 'value': OFF},
                {'op': 'replace', 'path': '-driver', 'value': OFF},
                {'op': 'replace', 'path': '~1driver', 'value': OFF},
                {'op': 'replace', 'path': ['/driver'], 'value': OFF},
                {'op': 'replace', 'path': '/driver', 'value': 5},
                {'op': 'replace', 'path': '/driver', 'value': ''},
                {'op': 'replace', 'path': '/driver', 'value': None},
                {'op': 'replace', 'path': '/driver'},
                {'op': 'add', 'path': '/driver', 'value': None},
                {'op': 'test', 'path': '/driver', 'value': OFF},
                {'op': 'test', 'path': '/driver'},
                {'op': 'move', 'path': '/driver', 'from': '/name'},
                {'op': 'REPLACE', 'path': '/driver', 'value': OFF},
                replace('driver', HELM) | {'from': '/name'},
                {'op': 'remove', 'path': '/coe'},
                {'op': 'remove', 'path': '/image_id'},
                {'op': 'remove', 'path': '/cluster_distro'},
                {'op': 'replace'}, {}, 'x', None, ['/driver'],
                replace('driver', ' '),
                replace('dri-ver', OFF), replace('driver1', OFF)):
            answer = self.patch(replace('name', 'n'), operation)
            self.assertEqual(400, answer.status_int, operation)
            self.assertRegex(scripted_magnum.detail(answer),
                             'not possible like this|without a path')
        self.assertEqual(400, scripted_magnum.send(
            self.app, 'PATCH', f'{TEMPLATES}/t', {'driver': OFF}).status_int)
        self.assertEqual([], self.magnum.requests)


class LogTest(TemplateTestCase):

    def lines(self):
        return self.log.output.splitlines()

    def test_one_line_a_request(self):
        self.create()
        self.create('ubuntu')
        # Before it is read.
        scripted_magnum.send(self.app, 'PUT', TEMPLATES, {})
        for line, expected in zip(self.lines(), (
                r"template create 'req-1', template 't': driver 'helm_v1' "
                r"\(.*os_distro is 'flatcar'.*only\); answered 201",
                r"template create 'req-1', template 't': refused, ambiguous "
                r'\(the image has no magnum_distro.*\); refused with 400: '
                r'\(vm, ubuntu, kubernetes\) is ambiguous.*',
                r"request 'req-1': refused with 405.*"), strict=True):
            self.assertRegex(line, f'^{expected}$')
        self.assertNotIn('secret', self.log.output)

    def test_a_driver_that_only_its_name_speaks_for(self):
        self.app = scripted_magnum.filtered(
            self.magnum, scripted_magnum.catalog(mode=model.Mode.HIBISCUS))
        log = self.useFixture(fixtures.FakeLogger(
            format='%(levelname)s %(message)s'))
        self.assertEqual(ALIAS, self.create('ubuntu').json['driver'])
        self.create()
        self.assertEqual(['WARNING', 'INFO'], [
            line.partition(' ')[0] for line in log.output.splitlines()])


class HostileImageTest(TemplateTestCase):

    VALUES = ('x' * 4096, 'a\r\nHTTP/1.1 200 OK\r\n\r\n', '\x1b[31m\x00\x07',
              '<script>alert(1)</script>', '%s%n%(x)s', '{0.__class__}{x}',
              '"},"status":200,"x":"', "' OR 1=1 --", '\ud800é\u202e\u2028')

    def test_each_is_a_clean_400_and_a_clean_line(self):
        for name in ('magnum_distro', 'os_distro', 'magnum_driver'):
            for value in self.VALUES:
                self.magnum.images.known['bad'] = {
                    'os_distro': 'ubuntu', name: value}
                answer = self.create('bad')
                self.assertEqual(400, answer.status_int)
                self.assertIsNone(re.search(
                    b'[<>&\x00-\x1f\x7f-\xff]', answer.body))
                [error] = json.loads(answer.body)['errors']
                self.assertLess(len(error['detail']), 600)
                self.assertEqual(400, error['status'])
        lines = self.log.output.splitlines()
        self.assertEqual(3 * len(self.VALUES), len(lines))
        for line in lines:
            self.assertLess(len(line), 1200)
            self.assertIsNone(re.search('[^ -~]', line))


class FailClosedTest(TemplateTestCase):

    def test_an_error_of_the_filter_is_a_500(self):
        self.magnum.images.known['flatcar'] = KeyError('a bug')
        answer = self.create()
        self.assertEqual((500, 'req-1'), (
            answer.status_int, answer.json['errors'][0]['request_id']))
        self.assertNotIn('bug', answer.text)
        self.assertIn('Traceback', self.log.output)
        self.assertEqual([], self.magnum.requests)
