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

    def lines(self):
        return [line for line in self.log.output.splitlines()
                if line.startswith('template create')]

    def check_refused(self, answer, part, status=400):
        self.assertEqual(status, answer.status_int)
        self.assertIn(part, scripted_magnum.detail(answer))
        self.assertEqual({}, self.magnum.templates)


class CreateTest(TemplateTestCase):

    def test_the_sole_provider_is_stored(self):
        answer = self.create()
        self.assertEqual((201, HELM),
                         (answer.status_int, answer.json['driver']))
        self.assertEqual(1, len(self.magnum.requests))

    def test_the_image_is_read_once_with_the_users_token(self):
        self.create()
        self.assertEqual((['flatcar'], ['secret']),
                         (self.magnum.images.read_, self.magnum.users))

    def test_the_image_names_the_driver(self):
        self.assertEqual(HELM, self.create('helm').json['driver'])

    def test_the_template_beats_the_image(self):
        self.assertEqual(
            ALIAS, self.create('helm', driver=ALIAS).json['driver'])

    def test_blanks_around_the_name_do_not_count(self):
        self.assertEqual(
            ALIAS, self.create('ubuntu', driver=f' {ALIAS} ').json['driver'])

    def test_all_else_is_forwarded_as_it_is(self):
        labels = {'a': 'é<&', 'b': 1.5, 'c': True}
        self.create(labels=labels, driver=None, tags='')
        [(_, body)] = self.magnum.asked('POST')
        self.assertEqual(
            {'name': 't', 'image_id': 'id-flatcar', 'coe': 'kubernetes',
             'labels': labels, 'driver': HELM, 'cluster_distro': 'flatcar',
             'tags': ''}, body)

    def test_magnum_judges_the_distro_of_the_request(self):
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
            self.assertEqual((status, 'broken'), (
                (answer := self.create()).status_int,
                scripted_magnum.detail(answer)))

    def test_what_magnum_must_refuse_itself(self):
        for fields in ({'image_id': None}, {'image_id': 7}, {'image_id': ''},
                       {'coe': None}, {'coe': ['a']}, {'driver': 5},
                       {'driver': ''}, {'server_type': None}):
            self.magnum.broken['POST', 'clustertemplates'] = 400
            self.assertEqual('broken', scripted_magnum.detail(
                self.create(**fields)))
        self.assertEqual([], self.magnum.images.read_)

    def test_magnum_accepts_what_it_should_have_refused(self):
        for fields in ({'driver': 5}, {'coe': None}, {'server_type': 1}):
            self.check_refused(self.create(**fields), 'deleted again', 409)


class MagnumDistroTest(TemplateTestCase):

    def test_it_is_stored_and_answered(self):
        answer = self.create('renamed')
        [template] = self.magnum.templates.values()
        self.assertEqual(('flatcar', HELM), (
            template['cluster_distro'], template['driver']))
        self.assertEqual((201, template), (answer.status_int, answer.json))
        self.assertEqual(
            f'http://magnum.example{TEMPLATES}/{template["uuid"]}',
            answer.headers['Location'])

    def test_users_need_no_right_to_update_or_delete(self):
        # Nor flavors: Magnum's update refuses a template without
        # (api/controllers/v1/cluster_template.py, patch).
        for method in ('PATCH', 'DELETE'):
            self.magnum.broken[method, 'clustertemplates'] = 403
        answer = self.create('renamed')
        self.assertEqual((201, 'flatcar'), (
            answer.status_int, answer.json['cluster_distro']))

    def test_the_distro_cannot_be_stored(self):
        self.magnum.broken['set_decided'] = RuntimeError('no')
        self.check_refused(self.create('renamed'),
                           'The new template is deleted again.', 500)

    def test_nor_can_the_template_be_deleted(self):
        for what in ('set_decided', 'delete_template'):
            self.magnum.broken[what] = RuntimeError('no')
        answer = self.create('renamed')
        [uuid] = self.magnum.templates
        self.assertEqual(500, answer.status_int)
        self.assertIn(f'{uuid} could not be deleted',
                      scripted_magnum.detail(answer))

    def test_magnum_does_not_say_what_it_stored(self):
        self.magnum._json = lambda status, found: \
            scripted_magnum.webob.Response(status=status, body=b'<html>')
        answer = self.create()
        self.assertEqual(500, answer.status_int)
        self.assertIn('Look for the template',
                      scripted_magnum.detail(answer))

    def test_magnum_does_not_say_which_template_it_stored(self):
        for found in ({}, {'uuid': 7}, ['uuid'], 'uuid', None):
            self.magnum._json = lambda status, _: \
                scripted_magnum.webob.Response(status=status, json_body=found)
            answer = self.create()
            self.assertEqual(500, answer.status_int, found)
            self.assertIn('Look for the template',
                          scripted_magnum.detail(answer))

    def test_magnum_stores_the_driver_of_the_image(self):
        # As Magnum does before 23, or none.
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
        answer = self.create('unknown')
        self.assertEqual((400, 'The image is none.'), (
            answer.status_int, scripted_magnum.detail(answer)))

    def test_it_can_be_seen_a_moment_later(self):
        read = self.magnum.images.read

        def late(ident):
            self.magnum.images.known['late'] = {'os_distro': 'ubuntu'}
            return read('unknown')
        self.magnum.images.read = late
        self.check_refused(self.create('late'), 'deleted again', 409)

    def test_glance_is_out(self):
        for status in (401, 502, 503):
            self.magnum.images.known['flatcar'] = images.Unavailable(
                status, 'The image service could not be asked.')
            self.check_refused(self.create(), 'could not be asked', status)
        self.assertEqual([], self.magnum.requests)


class UpdateTest(TemplateTestCase):

    def setUp(self):
        super().setUp()
        self.uuid = self.magnum.add_template()

    def patch(self, *operations, ident='t'):
        return scripted_magnum.send(
            self.app, 'PATCH', f'{TEMPLATES}/{ident}', list(operations))

    def stored(self, *fields):
        return tuple(self.magnum.templates[self.uuid][f] for f in fields)

    def forwarded(self):
        [(path, body)] = self.magnum.asked('PATCH')
        self.assertEqual(f'{TEMPLATES}/{self.uuid}', path)
        return body

    def replace(self, field, value):
        return {'op': 'replace', 'path': f'/{field}', 'value': value}

    REMOVE = {'op': 'remove', 'path': '/driver'}

    def test_other_fields_pass(self):
        operations = [self.replace('name', 'new'),
                      {'op': 'add', 'path': '/labels/driver', 'value': 'x'}]
        self.patch(*operations)
        self.assertEqual([('PATCH', f'{TEMPLATES}/t', '', operations)],
                         self.magnum.requests)

    def test_other_operations_go_with_those_on_drivers(self):
        others = [{'op': 'add', 'path': '/labels/a', 'value': 'x'},
                  {'op': 'remove', 'path': '/a'}, self.replace('name', 'n'),
                  {'op': 'test', 'path': '/name', 'value': 'y'}]
        self.magnum._json = lambda status, found: \
            scripted_magnum.webob.Response(
                status=status, json_body=self.magnum.templates[self.uuid])
        self.patch(*others, self.replace('driver', ALIAS))
        self.assertEqual([*others, self.replace('driver', ALIAS)],
                         self.forwarded())

    def test_magnums_own_refusal_is_the_answer(self):
        for status in (201, 409, 500):
            self.magnum.broken['PATCH', 'clustertemplates'] = status
            answer = self.patch(self.replace('driver', ALIAS))
            self.assertEqual((status, 'broken'), (
                answer.status_int, scripted_magnum.detail(answer)))

    def test_a_driver_that_provides_the_type(self):
        answer = self.patch(self.replace('driver', ALIAS))
        self.assertEqual((200, ALIAS),
                         (answer.status_int, answer.json['driver']))
        self.assertEqual([self.replace('driver', ALIAS)], self.forwarded())

    def test_the_image_is_not_read_without_need(self):
        self.patch(self.replace('driver', ALIAS))
        self.patch(self.replace('cluster_distro', 'ubuntu'))
        self.patch(self.replace('image_id', 'ubuntu'))
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
                ([('image_id', 'unknown')], 'cannot be used')):
            answer = self.patch(*(self.replace(*o) for o in operations))
            self.assertEqual(400, answer.status_int)
            self.assertIn(part, scripted_magnum.detail(answer))
        self.assertEqual([], self.magnum.asked('PATCH'))

    def test_a_distro_that_is_not_the_images(self):
        answer = self.patch(self.replace('cluster_distro', 'flatcar'))
        self.assertEqual(400, answer.status_int)
        self.assertIn("says 'ubuntu', not 'flatcar'",
                      scripted_magnum.detail(answer))
        self.assertEqual([], self.magnum.asked('PATCH'))

    def test_the_distro_of_the_image(self):
        self.magnum.templates[self.uuid]['cluster_distro'] = 'flatcar'
        answer = self.patch(self.replace('cluster_distro', 'ubuntu'))
        self.assertEqual(200, answer.status_int)
        self.assertEqual(('ubuntu',), self.stored('cluster_distro'))

    def test_a_new_image_brings_its_distro(self):
        self.patch(self.replace('image_id', 'renamed'))
        self.assertEqual([self.replace('image_id', 'id-renamed'),
                          self.replace('cluster_distro', 'flatcar')],
                         self.forwarded())
        self.assertEqual((HELM, 'flatcar'),
                         self.stored('driver', 'cluster_distro'))

    def test_a_new_image_beats_the_distro_beside_it(self):
        self.patch(self.replace('image_id', 'flatcar'),
                   self.replace('cluster_distro', 'ubuntu'))
        self.assertEqual(('flatcar',), self.stored('cluster_distro'))

    def test_a_new_image_that_the_driver_does_not_serve(self):
        self.magnum.templates[self.uuid]['driver'] = ALIAS
        answer = self.patch(self.replace('image_id', 'flatcar'))
        self.assertEqual(400, answer.status_int)
        self.assertIn('{"op": "remove", "path": "/driver"}',
                      scripted_magnum.detail(answer))
        self.assertEqual((ALIAS, 'ubuntu'),
                         self.stored('driver', 'image_id'))

    def test_the_way_out_is_told_to_whom_it_helps(self):
        way_out = 'To have a driver chosen again'
        self.magnum.templates[self.uuid]['driver'] = ALIAS
        for field, value in (('coe', 'swarm'), ('cluster_distro', 'flatcar'),
                             ('server_type', 'bm'), ('image_id', 'flatcar')):
            self.assertIn(way_out, scripted_magnum.detail(
                self.patch(self.replace(field, value))))
        # They have chosen themselves, or had it chosen.
        for operations in ([self.replace('driver', OFF)], [
                self.REMOVE, self.replace('coe', 'swarm')]):
            self.assertNotIn(way_out, scripted_magnum.detail(
                self.patch(*operations)))
        self.magnum.templates[self.uuid]['driver'] = None
        self.assertNotIn(way_out, scripted_magnum.detail(
            self.patch(self.replace('coe', 'swarm'))))

    def test_a_driver_is_removed_by_no_other_operation(self):
        for op in ({'op': 'replace', 'path': '/driver', 'value': ''},
                   {'op': 'replace', 'path': '/driver'},
                   {'op': 'add', 'path': '/driver', 'value': None},
                   {'op': 'test', 'path': '/driver'},
                   {'op': 'remove', 'path': '/coe'},
                   {'op': 'replace', 'path': '0driver', 'value': ALIAS},
                   {'op': 'replace', 'path': '-driver', 'value': ALIAS},
                   {'op': 'remove', 'path': '/image_id'}):
            answer = self.patch(op)
            self.assertEqual(400, answer.status_int, op)
            self.assertIn('is not possible like this',
                          scripted_magnum.detail(answer))
        self.assertEqual([], self.magnum.requests)

    def test_a_new_image_and_a_new_choice(self):
        self.magnum.templates[self.uuid]['driver'] = ALIAS
        self.patch(self.REMOVE, self.replace('image_id', 'flatcar'))
        self.assertEqual([self.replace('image_id', 'id-flatcar'),
                          self.replace('driver', HELM),
                          self.replace('cluster_distro', 'flatcar')],
                         self.forwarded())

    def test_to_remove_the_driver_is_to_choose_again(self):
        self.magnum.templates[self.uuid]['image_id'] = 'helm'
        self.magnum.templates[self.uuid]['driver'] = ALIAS
        self.patch(self.REMOVE)
        self.assertEqual([self.replace('driver', HELM)], self.forwarded())

    def test_the_same_is_chosen_again(self):
        self.magnum.templates[self.uuid]['image_id'] = 'helm'
        self.assertEqual(200, self.patch(self.REMOVE).status_int)
        # 200 by Magnum, which then leaves the template as it is.
        self.assertEqual([], self.forwarded())
        self.assertEqual((HELM,), self.stored('driver'))

    def test_no_choice_is_left(self):
        answer = self.patch(self.REMOVE)
        self.assertIn('ambiguous', scripted_magnum.detail(answer))
        self.assertEqual((HELM,), self.stored('driver'))

    def test_a_template_without_driver_gets_one_when_touched(self):
        self.magnum.templates[self.uuid].update(driver=None, image_id='helm')
        self.patch(self.replace('cluster_distro', 'ubuntu'))
        self.assertEqual((HELM,), self.stored('driver'))

    def test_glance_is_out(self):
        self.magnum.images.known['new'] = images.Unavailable(503, 'Out.')
        self.assertEqual(503, self.patch(
            self.replace('image_id', 'new')).status_int)
        self.assertEqual([], self.magnum.asked('PATCH'))

    def test_the_question_is_magnums_to_refuse(self):
        answer = self.patch(self.replace('driver', ALIAS), ident='other')
        self.assertEqual((404, 'other could not be found.'), (
            answer.status_int, scripted_magnum.detail(answer)))
        self.magnum.denied = ('clustertemplate:update',)
        self.assertEqual(403, self.patch(
            self.replace('driver', ALIAS)).status_int)

    def test_somebody_else_is_faster(self):
        answer = self.magnum._answer

        def slow(method, parts, body):
            if method == 'PATCH':
                self.magnum.templates[self.uuid]['cluster_distro'] = 'x'
            return answer(method, parts, body)
        self.magnum._answer = slow
        self.assertEqual(409, self.patch(
            self.replace('driver', ALIAS)).status_int)

    def test_spellings_that_might_touch_it(self):
        # All but the last three are refused by Magnum too, some with a 500.
        for operation in (
                self.replace('', 'x'), self.replace('/driver', OFF),
                self.replace('driver/', OFF), self.replace('driver\n', OFF),
                self.replace('Driver', OFF), self.replace('driver/x', OFF),
                {'op': 'replace', 'path': '', 'value': {}},
                {'op': 'replace', 'path': 'driver', 'value': OFF},
                {'op': 'replace', 'path': '~1driver', 'value': OFF},
                {'op': 'replace', 'path': ['/driver'], 'value': OFF},
                {'op': 'replace', 'path': '/driver', 'value': 5},
                {'op': 'replace', 'path': '/driver', 'value': None},
                {'op': 'replace', 'path': '/driver'},
                {'op': 'test', 'path': '/driver', 'value': OFF},
                {'op': 'move', 'path': '/driver', 'from': '/name'},
                {'op': 'REPLACE', 'path': '/driver', 'value': OFF},
                self.replace('driver', HELM) | {'from': '/name'},
                {'op': 'remove', 'path': '/coe'},
                {'op': 'remove', 'path': '/cluster_distro'},
                {'op': 'replace'}, {}, 'x', None, ['/driver'],
                self.replace('driver', ' '),
                self.replace('dri-ver', OFF), self.replace('driver1', OFF)):
            answer = self.patch(self.replace('name', 'n'), operation)
            self.assertEqual(400, answer.status_int, operation)
        self.assertEqual([], self.magnum.asked('PATCH'))

    def test_an_object_is_no_patch(self):
        answer = scripted_magnum.send(
            self.app, 'PATCH', f'{TEMPLATES}/t', {'driver': OFF})
        self.assertEqual(400, answer.status_int)


class LogTest(TemplateTestCase):

    def test_one_line_a_decision(self):
        self.create()
        [line] = self.lines()
        self.assertThat(line, testtools.matchers.MatchesRegex(
            r"template create 'req-1', template 't': driver 'helm_v1' "
            r"\(.*os_distro is "
            r"'flatcar'.*only\); answered 201"))

    def test_a_driver_that_only_its_name_speaks_for(self):
        self.app = scripted_magnum.filtered(
            self.magnum, scripted_magnum.catalog(mode=model.Mode.HIBISCUS))
        log = self.useFixture(fixtures.FakeLogger(
            format='%(levelname)s %(message)s'))
        self.assertEqual(ALIAS, self.create('ubuntu').json['driver'])
        self.create()
        self.assertEqual(['WARNING', 'INFO'], [
            line.partition(' ')[0] for line in log.output.splitlines()
            if 'template create' in line])

    def test_refusals_too(self):
        self.create('ubuntu')
        line, = self.log.output.splitlines()
        self.assertThat(line, testtools.matchers.MatchesRegex(
            r"template create 'req-1', template 't': refused, ambiguous "
            r'\(the image has no magnum_distro.*\); refused with 400: '
            r'\(vm, ubuntu, kubernetes\) is ambiguous'))

    def test_refusals_before_any_decision(self):
        scripted_magnum.send(self.app, 'PUT', TEMPLATES, {})
        line, = self.log.output.splitlines()
        self.assertTrue(line.startswith("request 'req-1': refused with 405"),
                        line)

    def test_no_token_is_in_it(self):
        self.create('renamed')
        self.create('ubuntu')
        self.assertNotIn('secret', self.log.output)


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
                self.assertNotRegex(answer.body, b'[<>&\x00-\x1f\x7f-\xff]')
                [error] = json.loads(answer.body)['errors']
                self.assertLess(len(error['detail']), 600)
                self.assertEqual(400, error['status'])
        self.assertEqual(3 * len(self.VALUES), len(self.lines()))
        for line in self.lines():
            self.assertLess(len(line), 1200)
            self.assertIsNone(re.search('[^ -~]', line))

    def assertNotRegex(self, raw, pattern):
        self.assertIsNone(re.search(pattern, raw))


class FailClosedTest(TemplateTestCase):

    def test_an_error_of_the_filter_is_a_500(self):
        self.magnum.images.known['flatcar'] = KeyError('a bug')
        answer = self.create()
        self.assertEqual((500, 'req-1'), (
            answer.status_int, answer.json['errors'][0]['request_id']))
        self.assertNotIn('bug', answer.text)
        self.assertIn('Traceback', self.log.output)
        self.assertEqual([], self.magnum.requests)
