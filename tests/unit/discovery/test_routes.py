# SPDX-License-Identifier: Apache-2.0
"""What may not pass unchecked.

The comments on the cases are what Magnum 23.0.0 does without the filter with
a template whose driver is disabled; each was sent to a real one. 201 is a way
around the check that the filter closes.
"""

import json
import urllib.parse

import testtools

from tests.unit.discovery import scripted_magnum

WANTED = {'name': 't', 'image_id': 'ubuntu', 'coe': 'kubernetes',
          'driver': scripted_magnum.OFF}
QUERY = urllib.parse.urlencode(
    {f'cluster_template.{k}': v for k, v in WANTED.items()})
XML = '<cluster_template><driver>off_v1</driver></cluster_template>'
FORM = 'application/x-www-form-urlencoded'
TEMPLATES = '/v1/clustertemplates'
BOUNDARY = 'multipart/form-data; boundary=x'


class RouteTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.magnum = scripted_magnum.Magnum()
        self.app = scripted_magnum.filtered(self.magnum)

    def send(self, method, path, body=None, **environ):
        return scripted_magnum.send(self.app, method, path, body, **environ)

    def check_refused(self, status, answer):
        self.assertEqual(status, answer.status_int)
        self.assertTrue(scripted_magnum.detail(answer))
        self.assertEqual([], [r for r in self.magnum.requests
                              if r[0] != 'GET'])


class SpellingsOfPathsTest(RouteTestCase):
    """They are the documented one to Magnum: 201 without the filter."""

    def test_they_are_checked(self):
        for path in (TEMPLATES, f'{TEMPLATES}/', f'{TEMPLATES}//',
                     '//v1/clustertemplates', '/v1//clustertemplates',
                     '/clustertemplates', '/v1/%63lustertemplates'):
            answer = self.send('POST', path, WANTED)
            self.check_refused(400, answer)
            self.assertIn('disabled', scripted_magnum.detail(answer))

    def test_a_prefix_of_the_web_server_is_not_checked(self):
        answer = self.send('POST', TEMPLATES, WANTED,
                           SCRIPT_NAME='/container-infra')
        self.check_refused(400, answer)


class UndocumentedPathsTest(RouteTestCase):

    def test_they_are_refused(self):
        for method, path in (
                # 201: pecan walks attributes of Python objects.
                ('POST', f'{TEMPLATES}/__hash__/__self__'),
                # 201
                ('POST', '/v1/__hash__/__self__/clustertemplates'),
                # 202
                ('POST', '/v1/clusters/__hash__/__self__'),
                # 200: the template is changed.
                ('PATCH', f'{TEMPLATES}/__hash__/__self__/x'),
                # 400: not understood.
                ('POST', '/v1/v1/clustertemplates'),
                ('POST', f'{TEMPLATES}/x'),
                ('POST', '/__hash__/__self__/v1/clustertemplates'),
                # 200: the name is read from the query.
                ('PATCH', f'{TEMPLATES}?cluster_template_ident=x'),
                # Of things that have names; but it is too long for them.
                ('POST', '/v1/quotas/x/y/clustertemplates'),
                # There is no such version.
                ('POST', '/v2/clustertemplates'),
                ('POST', '/a/clustertemplates'),
                # They upgrade the cluster.
                ('POST', '/v1/clusters/actions/x/upgrade'),
                ('POST', '/v1/clusters/actions/upgrade?cluster_ident=x'),
                # Not found, or not understood.
                ('POST', '/v1/clusters/x/actions/__hash__/__self__/upgrade'),
                ('PATCH', '/v1/clusters/x/actions/upgrade')):
            self.check_refused(404, self.send(method, path, WANTED))


class MethodsTest(RouteTestCase):

    def test_names_of_functions_are_no_methods(self):
        # pecan calls the function of any name: UPGRADE upgrades a cluster,
        # GET_ALL lists.
        for method in ('UPGRADE', 'PUT', 'POST_', 'post', 'Patch',
                       'GET_ALL'):
            self.check_refused(
                405, self.send(method, '/v1/clusters/x/actions', WANTED))

    def test_no_parameter_replaces_the_method(self):
        # 400 'Unknown argument: "_method"', by the function that was chosen
        # by it; whether it objects is up to the function.
        for method in ('GET', 'HEAD', 'DELETE', 'POST', 'PUT', 'PATCH'):
            for query in ('_method=post', '%5fmethod=post', f'a&{QUERY}&_'
                          'method=post'):
                answer = self.send(method, f'{TEMPLATES}?{query}')
                self.assertEqual(400, answer.status_int)
        self.assertEqual([], self.magnum.requests)

    def test_no_form_replaces_the_method(self):
        # 200 for GET, 400 for DELETE.
        for method in ('GET', 'DELETE', 'POST', 'PATCH'):
            for form in (FORM, FORM.upper(), f'{FORM}; charset=utf-8',
                         BOUNDARY):
                self.check_refused(415, self.send(
                    method, TEMPLATES, b'_method=post', CONTENT_TYPE=form))

    def test_a_query_that_is_no_text(self):
        self.check_refused(400, self.send('GET', f'{TEMPLATES}?%ff=1'))


class BodiesTest(RouteTestCase):

    def test_only_json_is_taken(self):
        for content_type, body in (
                (FORM, QUERY),                        # 201
                ('text/xml', XML),                    # 201
                ('text/javascript', json.dumps(WANTED)),  # 201
                ('application/javascript', json.dumps(WANTED)),  # 201
                ('application/xml', XML),             # 415
                ('', json.dumps(WANTED)),             # 400
                ('', QUERY),                          # 415
                ('application/jsonx', json.dumps(WANTED))):  # 415
            self.check_refused(415, self.send(
                'POST', TEMPLATES, body.encode(), CONTENT_TYPE=content_type))

    def test_nothing_comes_in_the_query(self):
        good = WANTED | {'driver': scripted_magnum.HELM}
        for query, body in (
                (QUERY, b''),                                         # 201
                (f'__body__={urllib.parse.quote(json.dumps(WANTED))}',
                 b''),                                                # 201
                ('cluster_template.driver=off_v1',
                 json.dumps(good).encode()),                          # 400
                ('x=1', json.dumps(good).encode())):                  # 400
            self.check_refused(400, self.send(
                'POST', f'{TEMPLATES}?{query}', body))

    def test_what_is_no_json_object(self):
        for body in (b'', b'null', b'[]', b'"x"', b'{', b'\xff',  # 400, 500
                     json.dumps(WANTED).encode('utf-16'),         # 400
                     b'\xef\xbb\xbf{}',                           # 400
                     b'[' * 100000,                               # 500
                     b'{"a":' + b'9' * 5000 + b'}'):              # 400
            self.check_refused(400, self.send('POST', TEMPLATES, body))

    def test_it_says_what_it_wants(self):
        for method, path, body, kind in (
                ('POST', TEMPLATES, b'[]', 'object'),
                ('PATCH', f'{TEMPLATES}/x', b'{}', 'list')):
            self.assertIn(f'must be a JSON {kind}.', scripted_magnum.detail(
                self.send(method, path, body)))

    def test_the_last_of_two_equal_keys_counts_for_both(self):
        first = json.dumps(WANTED | {'driver': scripted_magnum.HELM})
        self.check_refused(400, self.send(
            'POST', TEMPLATES, first[:-1].encode() + b',"driver":"off_v1"}'))
        last = json.dumps(WANTED)[:-1].encode() + b',"driver":"helm_v1"}'
        self.send('POST', TEMPLATES, last)
        [(_, body)] = self.magnum.asked('POST')
        self.assertEqual(scripted_magnum.HELM, body['driver'])

    def test_magnum_gets_what_was_checked_and_not_the_bytes(self):
        body = (b'{"driver": "off_v1", "image_id": "flatcar", "coe": '
                b'"kubernetes", "name": "\\ud800", "driver": null}')
        self.send('POST', TEMPLATES, body,
                  CONTENT_TYPE='Application/JSON; charset=utf-16')
        environ = self.magnum.environs[-1]
        self.assertEqual('application/json', environ['CONTENT_TYPE'])
        self.assertEqual(1, environ['wsgi.input'].getvalue().count(
            b'"driver"'))

    def test_the_longest_request(self):
        body = json.dumps(WANTED).encode().ljust(1 << 20)
        self.assertIn('disabled', scripted_magnum.detail(
            self.send('POST', TEMPLATES, body)))
        self.check_refused(413, self.send('POST', TEMPLATES, body + b' '))

    def test_magnum_gets_no_marks_of_how_it_was_sent(self):
        body = json.dumps(WANTED | {'driver': scripted_magnum.HELM})
        self.send('POST', TEMPLATES, body.encode(),
                  HTTP_TRANSFER_ENCODING='chunked',
                  **{'wsgi.input_terminated': True})
        for environ in self.magnum.environs:
            self.assertNotIn('HTTP_TRANSFER_ENCODING', environ)
            self.assertNotIn('wsgi.input_terminated', environ)
        self.assertEqual(1, len(self.magnum.asked('POST')))

    def test_a_request_that_ends_early(self):
        self.check_refused(400, self.send(
            'POST', TEMPLATES, b'{}', CONTENT_LENGTH='7'))


class PassingTest(RouteTestCase):

    def test_what_changes_nothing_about_drivers_is_not_checked(self):
        for method, path in (
                ('GET', TEMPLATES), ('GET', f'{TEMPLATES}?limit=1'),
                ('GET', f'{TEMPLATES}/x'), ('DELETE', f'{TEMPLATES}/x'),
                ('GET', '/v1/clusters/x'), ('DELETE', '/v1/clusters/x'),
                ('PATCH', '/v1/clusters/x?rollback=true'),
                ('POST', '/v1/clusters/x/actions/resize'),
                ('POST', '/v1/clusters/x/nodegroups'),
                ('PATCH', '/v1/clusters/x/nodegroups/y'),
                ('PATCH', '/v1/certificates/clusters'),
                ('PATCH', '/v1/credentials/clusters'),
                ('POST', '/v1/certificates'), ('POST', '/v1/quotas'),
                ('POST', '/v1/quotas/x/clusters'),
                ('GET', '/'), ('GET', '/v1'), ('PUT', '/v1/mservices'),
                ('POST', '/v1/ClusterTemplates'),
                ('POST', '/v1/%2563lustertemplates')):
            magnum = Recorder()
            answer = scripted_magnum.send(
                scripted_magnum.filter_.Filter(magnum, None),
                method, path, b'[{"op": 1}]', CONTENT_TYPE='' if (
                    method in ('GET', 'DELETE')) else 'application/json')
            self.assertEqual(299, answer.status_int)
            self.assertEqual([(method, b'[{"op": 1}]')], magnum.seen)


class Recorder:
    """An API that answers 299 and remembers methods and bodies."""

    def __init__(self):
        self.seen = []

    def __call__(self, environ, start_response):
        self.seen.append((environ['REQUEST_METHOD'],
                          environ['wsgi.input'].read()))
        start_response('299 Fine', [])
        return []
