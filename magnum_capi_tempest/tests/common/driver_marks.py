# SPDX-License-Identifier: Apache-2.0

"""Asserts which driver has served a cluster, by what drivers leave behind.

The driver that Magnum names in its template says nothing about that: a Magnum
that asks another driver names the right one, too.
"""

import collections.abc
import contextlib
import typing

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi_tempest import descriptions
from magnum_capi_tempest.evidence import marks
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import changes as changes_
from magnum_capi_tempest import option_files
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import observations


#: Objects of the management cluster: their kinds and bodies.
_Objects: typing.TypeAlias = list[tuple[str, json_types.Object]]


def of(fixture: option_files.DiscoveryFixture,
       drivers: collections.abc.Iterable[str]) -> dict[str, marks.Mark]:
    """Return the marks of drivers, {name: marks.Mark}.

    :raises UsageError: one is not declared, or not valid.
    """
    known = configured(fixture)
    return {name: known.get(name) or _declared(name) for name in drivers}


def configured(fixture: option_files.DiscoveryFixture
               ) -> dict[str, marks.Mark]:
    """Return the marks in a discovery fixture, {name: marks.Mark}.

    :raises UsageError: one is not valid.
    """
    return {name: _mark(name, mark) for name, mark in fixture.marks.items()}


def _declared(name: str) -> marks.Mark:
    found = driver_info.of(name) or descriptions.of_driver(name)
    if not found or not found.mark:
        raise errors.UsageError(
            f'Nothing says by what clusters of {name} are recognized',
            hint='Declare "mark" in its magnum-capi.yaml, or in "marks" of '
                 'discovery_fixture')
    return _mark(name, found.mark)


def _mark(name: str, document: json_types.Object) -> marks.Mark:
    wrong = driver_info.mark_problems(document)
    if wrong:
        raise errors.UsageError(f'The mark of {name} is not valid',
                                last_seen='; '.join(wrong[:3]))
    return marks.Mark(name, **document)


class Marks:
    """Compares clusters of a test with the marks of drivers.

    :param fixture: see :func:`of`, like drivers.
    :raises AssertionError: nothing shows which clusters a driver serves.
    """

    def __init__(self, test: base.BaseMagnumCapiTest,
                 fixture: option_files.DiscoveryFixture,
                 drivers: collections.abc.Iterable[str]) -> None:
        self._test = test
        self._marks = of(fixture, drivers)
        for mark in self._marks.values():
            if not mark.stack_id and not (test.management and mark.objects):
                test.fail(
                    f'Nothing shows which clusters {mark.driver} serves: its '
                    'mark has no stack_id, and '
                    + ('no objects' if test.management
                       else 'management_kubeconfig is not set'))

    def assert_told_apart(self, clusters: dict[str, json_types.Object]
                          ) -> None:
        """Assert that clusters have different marks.

        :param clusters: {name of a driver: cluster that it must have made}.
        """
        seen = {driver: self._marked(cluster)
                for driver, cluster in clusters.items()}
        for driver, cluster in clusters.items():
            self.assert_served_by(driver, cluster)
        if len({*map(frozenset, seen.values())}) < len(seen):
            self._test.fail(
                f'{" and ".join(seen)} cannot be told apart: both clusters '
                f'have the marks of {", ".join(sorted(seen.popitem()[1]))}. '
                'One driver serves both, or what the drivers declare as mark '
                'is too general'
                + ('' if self._test.management
                   else '; management_kubeconfig is not set'))

    def assert_served_by(self, driver: str, cluster: json_types.Object
                         ) -> None:
        """Assert that a cluster has the mark of a driver."""
        stack_id, objects = self._observe(cluster)
        lacks = self._marks[driver].lacks(stack_id, objects)
        if lacks:
            self._test.fail(
                f'Another driver than {driver} has served cluster '
                f'{cluster["uuid"]}: {"; ".join(lacks)}')

    @contextlib.contextmanager
    def served_by(self, driver: str, cluster: json_types.Object
                  ) -> collections.abc.Iterator[None]:
        """Assert that a driver serves an operation on its cluster."""
        try:
            yield
        except Exception:
            # One that another driver serves may fail, or never end.
            self.assert_served_by(driver, cluster)
            raise
        self.assert_served_by(driver, cluster)

    @contextlib.contextmanager
    def deleted_by(self, driver: str, cluster: json_types.Object
                   ) -> collections.abc.Iterator[None]:
        """Assert that a driver serves the deletion of its cluster."""
        if not self._test.management:
            self._test.not_checked('which driver serves a deletion',
                                   'management_kubeconfig')
            yield
            return
        failure = None
        with self._test.management.changes_of(
                observations.stack_id(cluster)) as changes:
            try:
                yield
            except Exception as e:
                failure = e
        self._assert_deleted_by(driver, cluster, changes)
        if failure:
            raise failure

    def _assert_deleted_by(self, driver: str, cluster: json_types.Object,
                           changes: changes_.Recording) -> None:
        changes.check()
        stack_id = observations.stack_id(cluster)
        lacks = self._marks[driver].lacks_deletion(stack_id, changes.found)
        if lacks:
            self._test.fail(
                f'Another driver than {driver} has deleted cluster '
                f'{cluster["uuid"]}: {"; ".join(lacks)}')

    def _marked(self, cluster: json_types.Object) -> set[str]:
        stack_id, objects = self._observe(cluster)
        return {name for name, mark in self._marks.items()
                if not mark.lacks(stack_id, objects)}

    def _observe(self, cluster: json_types.Object
                 ) -> tuple[str, _Objects | None]:
        objects = None
        if self._test.management:
            objects = self._test.management.bodies({
                kind for mark in self._marks.values() for kind in mark.kinds})
        return observations.stack_id(cluster), objects
