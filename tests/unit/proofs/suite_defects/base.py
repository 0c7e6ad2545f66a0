# SPDX-License-Identifier: Apache-2.0

"""A driver with a defect in the small world of the driver's own tests."""

import dataclasses

from magnum_capi.driver.helm import helm
from tests.unit.driver import base
from tests.unit.driver import small_world
from tests.unit.proofs.suite_defects import stand_in


#: The driver without a defect, in the same parts.
HEALTHY = 'parts:Seeded'

WORKERS, OTHERS = small_world.WORKERS, small_world.OTHERS


class Base(base.TestCase):

    def setUp(self):
        super().setUp()
        # The real one is inherited from: only its ends are the world's.
        for name in ('upgrade', 'uninstall'):
            self.patch(helm.Helm, name, self.end(name))

    def end(self, name):
        return lambda _self, *args, **kwargs: getattr(
            self.w.helm, name)(*args, **kwargs)

    def driver(self, reference):
        """Return the driver of an entry point, in the small world."""
        parts = stand_in.modules()['parts']
        self.patch(parts, 'options', lambda: self.w.runtime.settings)
        self.patch(parts.Seeded, '_runtime', lambda made, settings=None: (
            self.world(made, settings)))
        cls = stand_in.load(reference)
        self.made = cls()
        self.made._store = lambda context, cluster: self.w.store
        return self.made

    def world(self, made, settings=None):
        settings = settings or self.w.runtime.settings
        return dataclasses.replace(
            self.w.runtime, settings=settings, helm=made.Helm(settings, None))

    def create(self, **cluster):
        self.w.store.clusters[small_world.CLUSTER].update(cluster)
        row = self.w.store.row()
        row.ca_cert_ref = 'ca'
        self.made.create_cluster(None, row, 60)
        self.w.store.save(row)

    def look(self, times=1):
        for _time in range(times):
            if small_world.CLUSTER in self.w.store.clusters:
                self.made.update_cluster_status(None, self.w.store.row())

    def resize(self, count, uuid=WORKERS, nodes=()):
        """As the conductor does."""
        group = self.w.store.row(uuid)
        group.node_count = count
        group.status = 'UPDATE_IN_PROGRESS'
        self.w.store.save(group)
        cluster = self.w.store.row()
        cluster.default_ng_worker = self.w.store.row(WORKERS)
        self.made.resize_cluster(None, cluster, None, count, nodes, group)
        self.set_status('UPDATE_IN_PROGRESS')

    def set_status(self, status):
        self.w.store.clusters[small_world.CLUSTER]['status'] = status

    def delete(self):
        row = self.w.store.row()
        self.made.delete_cluster(None, row)
        self.set_status('DELETE_IN_PROGRESS')

    def created(self, reference, **cluster):
        made = self.driver(reference)
        self.create(**cluster)
        self.look(3)
        self.assertEqual('CREATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)
        return made

    def add_group(self, count=1):
        self.w.store.add_group(node_count=count)
        group = self.w.store.row(OTHERS)
        self.made.create_nodegroup(None, self.w.store.row(), group)
        self.look(3)
        self.assertEqual('UPDATE_COMPLETE', self.w.cluster.status,
                         self.w.cluster.status_reason)

    def sizes(self):
        """Sizes of node groups as the chart has them, default first."""
        return [group['machineCount']
                for group in self.w.helm.upgrades[-1]['nodeGroups']]

    def change_all(self, plural, **status):
        for path, obj in self.api.objects.items():
            if f'/{plural}/' in path:
                obj['status'].update(status)
