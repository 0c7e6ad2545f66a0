# SPDX-License-Identifier: Apache-2.0

"""What checks of single options and of quotas ask a healthy cloud."""

import types

OPTIONS = {
    'network_driver': 'calico', 'master_lb_enabled': True, 'labels': {},
    'dns_nameserver': '', 'driver': '', 'upgrade_image_id': '',
    'upgrade_labels': {}, 'fault_flavors': {}, 'clashing_drivers': [],
    'discovery_fixture': '', 'conformance_plan': '',
    'not_promised': [],
    'many_clusters': 0, 'master_count': 1, 'node_count': 1,
}


class Magnum:
    """Quotas and cluster templates; all clients in one."""

    room = 20
    quotas = property(lambda self: self)

    def list_clusters(self):
        return {'clusters': [{'uuid': 'of somebody'}]}

    def show_quota(self, project, microversion):
        return {'hard_limit': self.room}

    def create_cluster_template(self, **body):
        return {'uuid': 't'}

    def delete_cluster_template(self, uuid):
        pass


class Manager:
    """Limits of Nova and Neutron, which has no routers here."""

    real_nodes = False
    cores = 40
    floating = -1
    credentials = types.SimpleNamespace(project_id='p')
    limits_client = property(lambda self: self)
    network_quotas_client = property(lambda self: self)

    def show_limits(self):
        return {'limits': {'absolute': {
            'maxTotalInstances': 10, 'totalInstancesUsed': 0,
            'maxTotalCores': self.cores, 'totalCoresUsed': 4,
            'maxTotalRAMSize': -1, 'totalRAMUsed': 10 ** 9}}}

    def show_quota_details(self, project):
        return {'quota': {
            'floatingip': {'limit': self.floating, 'used': 49},
            'network': {'limit': 100, 'used': 1}}}
