# SPDX-License-Identifier: Apache-2.0

"""The base of tests that try an operation as all personas."""

import functools
import json
import types

from tempest import config
from tempest.lib.common.utils import test_utils

from magnum_capi_tempest import services
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals
from magnum_capi_tempest.tests.common import personas

CONF = config.CONF


class _Token:
    """An auth provider with another token, but the same endpoints."""

    def __init__(self, provider, token):
        self._provider = provider
        self._token = token

    def base_url(self, filters, auth_data=None):
        return self._provider.base_url(filters)

    def auth_request(self, method, url, headers=None, body=None,
                     filters=None):
        return (f'{self.base_url(filters)}/{url}',
                {**(headers or {}), 'X-Auth-Token': self._token}, body)


def clients_with_token(provider, token):
    """Return a manager of this project's clients that sends a given token.

    :param provider: auth provider of a user, which knows the endpoints.
    """
    parameters = config.service_client_config('magnum_capi')
    return types.SimpleNamespace(magnum_capi_v1=types.SimpleNamespace(**{
        name: functools.partial(
            getattr(services, name), auth_provider=_Token(provider, token),
            **parameters)
        for name in services.__all__}))


def reader_token(manager, cleanup):
    """Return a token of a new application credential of a user.

    The credential has only the role reader.

    :param manager: tempest client manager of the user.
    """
    client = manager.application_credentials_client
    user = manager.credentials.user_id
    # Not through the part of tempest that logs bodies: this one has a secret.
    response, text = client.raw_request(
        f'{client.base_url}/users/{user}/application_credentials', 'POST',
        headers={'Content-Type': 'application/json', 'X-Auth-Token':
                 manager.auth_provider.get_token()},
        body=json.dumps({'application_credential': {
            'name': factories.name(CONF, 'reader'),
            'roles': [{'name': 'reader'}]}}))
    client.expected_success(201, int(response.status))
    made = json.loads(text)['application_credential']
    cleanup(test_utils.call_and_ignore_notfound_exc,
            client.delete_application_credential, user, made['id'])
    return manager.token_v3_client.auth(
        app_cred_id=made['id'], app_cred_secret=made['secret']).response[
            'x-subject-token']


def reader(manager, microversion, cleanup) -> factories.Magnum:
    """Return clients that use such a token."""
    token = reader_token(manager, cleanup)
    return factories.Magnum(
        clients_with_token(manager.auth_provider, token), microversion)


def more_than_reader(manager) -> list[str]:
    """Return the roles of a user that include the right to write.

    [auth] tempest_roles gives roles to all users, and accounts.yaml may have
    only members.

    :param manager: tempest client manager of the user.
    """
    _, token = manager.auth_provider.auth_data
    return [role['name'] for role in token['roles']
            if role['name'].lower() in ('admin', 'manager', 'member')]


def listed(uuid, found):
    """Return whether something is in a list, as an answer.

    :param found: bodies.
    """
    return bad_input.Answer(
        200 if uuid in [one['uuid'] for one in found] else 404)


def judged(rule, ask, by):
    """Perform an operation as several personas, and return what is wrong.

    :param rule: personas.Rule.
    :param ask: function that performs it with a factories.Magnum.
    :param by: persona -> factories.Magnum.
    :returns: list of sentences.
    """
    # Denied personas first, while the resource still exists.
    order = sorted(by, key=lambda persona: (persona in rule.allowed, persona))
    found = [rule.judge(persona, refusals.answer(ask, by[persona]).status)
             for persona in order]
    return [text for text in found if text]


class BaseRbacTest(base.BaseMagnumCapiTest):
    """A test of which personas may perform an operation.

    :cvar by: persona -> factories.Magnum.
    """

    needs = ('magnum.role.enforced',)
    credentials = ['primary', 'project_reader', 'project_admin', 'alt',
                   'admin']

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.project = cls.os_primary.credentials.project_id
        for name, own in (('project_reader', True), ('project_admin', True),
                          ('alt', False), ('admin', False)):
            cls.require_project(name, own=own)
        more = more_than_reader(cls.os_project_reader)
        if more:
            raise cls.skipException(
                f'project_reader also has the roles: {", ".join(more)}')
        cls.by = {
            persona: factories.Magnum(manager, cls.microversion)
            for persona, manager in (
                (personas.MEMBER, cls.os_primary),
                (personas.READER, cls.os_project_reader),
                (personas.PROJECT_ADMIN, cls.os_project_admin),
                (personas.OTHER, cls.os_alt),
                (personas.ADMIN, cls.os_admin))}

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        cls.by[personas.CREDENTIAL] = reader(
            cls.os_primary, cls.microversion, cls.addClassResourceCleanup)

    def assert_rules(self, *asked, leave_out=()):
        """Assert that exactly the personas in the table may do something.

        :param asked: pairs of a key of personas.RULES, and a function that
            performs the operation with a factories.Magnum.
        :param leave_out: personas that are not tried.
        """
        by = {persona: magnum for persona, magnum in self.by.items()
              if persona not in leave_out}
        self.assertEqual([], [
            f'{operation}: {wrong}' for operation, ask in asked
            for wrong in judged(personas.RULES[operation], ask, by)])
