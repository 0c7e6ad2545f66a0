# SPDX-License-Identifier: Apache-2.0
"""Variants of requests that make or change a cluster template.

pecan, WSME and the layers in front of them accept more than Magnum documents:
other paths, other methods, other content types. Each variant is (method, path,
body, content type).
"""

import json
import urllib.parse

JSON = 'application/json'
FORM = 'application/x-www-form-urlencoded'
_PATH = '/v1/clustertemplates'


def creations(body):
    """Spellings of POST for a template.

    :param body: fields of the template.
    """
    as_json = json.dumps(body)
    query = urllib.parse.urlencode(
        {f'cluster_template.{k}': v for k, v in body.items()})
    xml = ''.join(f'<{k}>{v}</{k}>' for k, v in body.items())
    quoted = urllib.parse.quote(as_json)
    paths = (
        _PATH, f'{_PATH}/', f'{_PATH}//', '//v1//clustertemplates',
        '/clustertemplates', '/v1/%63lustertemplates',
        '/v1%2fclustertemplates', '%2fv1%2F%2fclustertemplates',
        '/v1/./clustertemplates', '/v1/x/../clustertemplates',
        '/v1/%2e%2e/v1/clustertemplates', f'{_PATH}%00', f'{_PATH}.json',
        f'{_PATH}/__hash__/__self__', '/v1/__hash__/__self__/clustertemplates',
        f'{_PATH};x=1')
    return (
        *(('POST', path, as_json, JSON) for path in paths),
        ('POST', _PATH, as_json, f'{JSON}; charset=utf-8'),
        ('POST', _PATH, as_json, 'text/javascript'),
        ('POST', _PATH, as_json, 'application/javascript'),
        ('POST', _PATH, query, FORM),
        ('POST', f'{_PATH}?{query}', '', JSON),
        ('POST', f'{_PATH}?__body__={quoted}', '', JSON),
        ('POST', _PATH, f'<cluster_template>{xml}</cluster_template>',
         'text/xml'),
        ('GET', f'{_PATH}?_method=POST&{query}', '', JSON),
        ('PUT', f'{_PATH}?_method=POST', as_json, JSON),
        ('post', _PATH, as_json, JSON))


def updates(ident, driver):
    """Spellings of PATCH that give a template a driver.

    :param ident: uuid of the template.
    """
    path = f'{_PATH}/{ident}'
    change = json.dumps(
        [{'op': 'replace', 'path': '/driver', 'value': driver}])
    return (
        ('PATCH', path, change, JSON),
        ('PATCH', f'{path}/', change, JSON),
        ('PATCH', f'/clustertemplates//{ident}', change, JSON),
        ('PATCH', f'{_PATH}%2f{ident}', change, JSON),
        ('POST', f'{path}?_method=PATCH', change, JSON),
        ('PATCH', path, json.dumps(
            [{'op': 'add', 'path': '/driver', 'value': driver}]), JSON))
