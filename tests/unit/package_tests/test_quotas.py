# SPDX-License-Identifier: Apache-2.0


"""A quota that somebody else has set outlives every test of quotas.

With accounts of [auth] test_accounts_file the project is somebody's, who may
have set a quota before.
"""

import contextlib
import types
import unittest

import fixtures
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.tests.common import personas
from magnum_capi_tempest.tests.common import quotas
from magnum_capi_tempest.tests.magnum import test_fields_negative
from magnum_capi_tempest.tests.magnum import test_quotas
from magnum_capi_tempest.tests.magnum import test_rbac

PROJECT = 'their project'
THEIRS = {'id': 1, 'project_id': PROJECT, 'resource': 'Cluster',
          'hard_limit': 20}

#: All tests that create, change or delete quotas.
CLASSES = (test_quotas.QuotasTest, test_quotas.QuotaCountsTest,
           test_fields_negative.QuotaFieldsNegativeTest,
           test_rbac.RestTest)


def refusal(kind, status):
    return kind(resp_body={'errors': [{'detail': 'No.'}]},
                resp=types.SimpleNamespace(status=status))


def is_limit(value):
    return type(value) is int and 0 <= value < 2 ** 63


class Body(dict):
    """As rest_client.ResponseBody."""

    def __init__(self, status, body):
        super().__init__(body)
        self.response = types.SimpleNamespace(status=status)


class Quotas:
    """The quotas of a Magnum, as one of its users may use them.

    :param kept: (project, resource) -> quota, shared by all users.
    :param sees: whether this user sees the quota of the project.
    :param writes: whether this user may set quotas, and sees all.
    :param lax: Magnum takes values that it should refuse.
    """

    def __init__(self, kept, *, sees=True, writes=False, lax=False):
        self._kept = kept
        self._sees = sees
        self._writes = writes
        self._lax = lax

    def _check(self, allowed):
        if not allowed:
            raise refusal(lib_exc.Forbidden, 403)

    def _there(self, *where):
        if where not in self._kept:
            raise refusal(lib_exc.NotFound, 404)
        return self._kept[where]

    def _require(self, right):
        if not right and not self._lax:
            raise refusal(lib_exc.BadRequest, 400)

    def create_quota(self, **quota):
        self._check(self._writes)
        self._require(quota.keys() == {'project_id', 'resource', 'hard_limit'}
                      and quota['project_id'] == PROJECT
                      and quota['resource'] == 'Cluster'
                      and is_limit(quota['hard_limit']))
        where = str(quota['project_id']), str(quota['resource'])
        if where in self._kept:
            raise refusal(lib_exc.Conflict, 409)
        self._kept[where] = {**quota, 'id': len(self._kept) + 100}
        return Body(201, self._kept[where])

    def list_quotas(self, all_tenants=False, **params):
        self._check(self._writes)
        self._require(all_tenants in (True, False) and not params)
        return Body(200, {
            'quotas': list(self._kept.values()) if all_tenants else []})

    def show_quota(self, project_id, resource='Cluster'):
        self._check(self._writes or self._sees and project_id == PROJECT)
        return Body(200, self._kept.get((str(project_id), str(resource)), {
            'project_id': project_id, 'resource': 'Cluster',
            'hard_limit': 20}))

    def update_quota(self, project_id, resource='Cluster', **changes):
        self._check(self._writes)
        quota = self._there(str(project_id), str(resource))
        self._require(is_limit(changes['hard_limit']))
        quota.update(changes)
        return Body(202, quota)

    def delete_quota(self, project_id, resource='Cluster'):
        self._check(self._writes)
        self._there(str(project_id), str(resource))
        del self._kept[str(project_id), str(resource)]
        return Body(204, {})


class OthersQuotaTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kept = {}

    def run_test(self, cls, name, lax=False):
        """Run a test to the end of its clean-up.

        :param lax: in a cloud that takes anything from anybody.
        """
        def magnum(writes, sees=True):
            return types.SimpleNamespace(quotas=Quotas(
                self.kept, sees=sees, writes=writes or lax, lax=lax))

        test = cls(name)
        test.project, test.known_answers = PROJECT, None
        test.admin_magnum, test.magnum = magnum(True), magnum(False)
        test.create_template, test.request_cluster = dict, self.no_room
        test.by = {
            persona: magnum(
                persona in personas.RULES['create quota'].allowed,
                persona in personas.RULES['show quota'].allowed)
            for persona in personas.ALL}
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.flags.CONF',
            types.SimpleNamespace(magnum_capi=types.SimpleNamespace(
                not_promised=[]))))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.base.BaseMagnumCapiTest.'
            'require_project', lambda *args, own: None))
        try:
            getattr(test, name)()
        finally:
            test.doCleanups()

    def no_room(self, template):
        raise refusal(lib_exc.Forbidden, 403)

    def cases(self):
        for cls in CLASSES:
            for name in unittest.TestLoader().getTestCaseNames(cls):
                # Of what is no quota.
                if name != 'test_services_and_stats':
                    yield cls, name

    def test_all_pass_where_there_is_none(self):
        for cls, name in self.cases():
            self.run_test(cls, name)

            self.assertEqual({}, self.kept, name)

    def changes(self, lax=False):
        """Run every test where there is one; return which ones changed it."""
        changed = []
        for cls, name in self.cases():
            self.kept[PROJECT, 'Cluster'] = dict(THEIRS)
            # Whether the test passes is another matter.
            with contextlib.suppress(AssertionError, unittest.SkipTest):
                self.run_test(cls, name, lax)
            if self.kept.get((PROJECT, 'Cluster')) != THEIRS:
                changed.append(f'{cls.__name__}.{name}')
        return changed

    def test_it_stays_as_it_is(self):
        self.assertEqual([], self.changes())

    def test_it_stays_where_magnum_takes_anything_from_anybody(self):
        self.assertEqual([], self.changes(lax=True))

    def test_tests_that_need_their_own_are_skipped(self):
        skipped = set()
        for cls, name in self.cases():
            self.kept[PROJECT, 'Cluster'] = dict(THEIRS)
            try:
                self.run_test(cls, name)
            except unittest.SkipTest as e:
                skipped.add(str(e))

        reason, = skipped
        self.assertIn(f'Project {PROJECT} has a quota', reason)


class DeletionTest(testtools.TestCase):

    def test_it_is_another_one_by_now(self):
        kept, cleanups = {}, []
        magnum = types.SimpleNamespace(quotas=Quotas(kept, writes=True))
        quotas.create(
            magnum, lambda *args: cleanups.append(args), PROJECT)
        kept[PROJECT, 'Cluster'] = dict(THEIRS)

        (function, *args), = cleanups
        function(*args)

        self.assertEqual({(PROJECT, 'Cluster'): THEIRS}, kept)
