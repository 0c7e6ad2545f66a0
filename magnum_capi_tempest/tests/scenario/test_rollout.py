# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""An upgrade replaces machines a few at a time, and the API goes on.

As the specs md_rollout and kcp_md_rollout of Cluster API's own end-to-end
tests, seen through Magnum's max_batch_size.
"""

import time

from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.tests import base
from magnum_capi_tempest.tests import behind
from magnum_capi_tempest.tests import flags
from magnum_capi_tempest.tests import looks
from magnum_capi_tempest.tests import operations
from magnum_capi_tempest.tests import replaced
from magnum_capi_tempest import waiting

CONF = config.CONF

WORKERS = operations.WORKERS

#: Nodes that may be replaced at once, of twice as many.
BATCH = 2


class RolloutTest(replaced.BaseBehindTest):

    required_options = (*base.TEMPLATE_OPTIONS, 'management_kubeconfig',
                        'upgrade_image_id')

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        old = cls.create_class_template()
        new = cls.create_class_template(
            image_id=CONF.magnum_capi.upgrade_image_id)
        cls.masters = CONF.magnum_capi.master_count
        cls.cluster = cls.create_class_cluster(old, node_count=2 * BATCH)
        cls.stack_id = replaced.stack_id(cls.cluster)
        cls.before = cls.behind.machines(cls.stack_id)
        with cls.explained([cls.cluster['uuid']]):
            cls.upgraded, cls.seen = cls.upgrade(new)

    @classmethod
    def upgrade(cls, template):
        """Upgrade the cluster, and look on.

        :returns: the cluster, and lists of behind.Machine, one a moment.
        """
        uuid, seen, waiter = cls.cluster['uuid'], [], cls.new_waiter()
        before = waiter.before(uuid, WORKERS)
        update = waiter.update(before, 2 * BATCH)
        cls.magnum.clusters.upgrade_cluster(
            uuid, cluster_template=template['uuid'], max_batch_size=BATCH)

        def poll():
            nonlocal update
            seen.append(cls.behind.machines(cls.stack_id))
            update = update.after(
                waiter.look(uuid, WORKERS), time.monotonic())
            return update

        def over(update):
            # COMPLETE of some drivers comes before anything has happened:
            # complete_means_ready is for the tests of that promise.
            return update.is_over() and cls.is_replaced(seen[-1])

        return waiter.outcome(waiting.wait_for(
            poll, done=over, failed=looks.Update.failure,
            timeout=CONF.magnum_capi.build_timeout, describe=str,
            what=f'cluster {uuid} to be upgraded, and its machines replaced',
            # What happens in between must be seen.
            pace=waiting.Pace(first=0.2, most=0.5))), seen

    @classmethod
    def is_replaced(cls, machines):
        """Return whether there are others now, as many as before."""
        return len(machines) == len(cls.before) and not (
            {m.name for m in machines} & {m.name for m in cls.before})

    def setUp(self):
        super().setUp()
        self.explain(self.cluster)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('a5c1c1c8-b1a0-4923-a188-3596d95242ef')
    def test_all_machines_are_replaced(self):
        after = self.machines(self.cluster)

        self.assertEqual(set(), {m.name for m in after}
                         & {m.name for m in self.before})
        self.assertEqual(len(self.before), len(after))
        cluster = self.with_new_version(self.upgraded)
        self.assertEqual({cluster['coe_version']}, {m.version for m in after})
        self.assert_usable(cluster, self.masters, 2 * BATCH)

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('31886a27-00f9-48e0-8b10-f85bd2afad8f')
    def test_the_control_plane_goes_on(self):
        self.assertEqual(self.masters, min(
            behind.in_service(machines, True) for machines in self.seen))

    @decorators.attr(type=['slow', 'life'])
    @decorators.idempotent_id('f6908894-7fb1-486f-816d-104627a01c2e')
    def test_no_more_workers_are_away_than_the_batch(self):
        self.assertLessEqual(BATCH, min(
            behind.in_service(machines, False) for machines in self.seen))

    @decorators.attr(type=['slow', 'life'])
    @flags.promised('batch_size_counts')
    @decorators.idempotent_id('d7f8709a-4cb8-4829-8350-66ec2d08e3b6')
    def test_as_many_workers_are_away_as_the_batch(self):
        self.assertEqual(BATCH, min(
            behind.in_service(machines, False) for machines in self.seen))
