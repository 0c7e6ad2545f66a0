# SPDX-License-Identifier: Apache-2.0
"""Mechanism driver of Neutron's ML2 plugin: it binds every port.

A port becomes ACTIVE as soon as it has a host. If its name begins with
``fault.unbound`` this driver refuses it, so that its binding fails like on a
host without a network agent.

A floating IP is ACTIVE while it has a port; normally the L3 agent of its
router reports this.
"""

from neutron_lib.api.definitions import portbindings
from neutron_lib.callbacks import events
from neutron_lib.callbacks import registry
from neutron_lib.callbacks import resources
from neutron_lib import constants
from neutron_lib.plugins.ml2 import api


#: Prefix of the names of ports that cannot be bound.
UNBOUND = 'fault.unbound'


class MechanismDriver(api.MechanismDriver):
    """Binds ports to the first segment of their network."""

    def initialize(self):
        for event in (events.AFTER_CREATE, events.AFTER_UPDATE):
            registry.subscribe(report_floating_ip, resources.FLOATING_IP,
                               event)

    @property
    def connectivity(self):
        return portbindings.CONNECTIVITY_L2

    def bind_port(self, context):
        if context.current['name'].startswith(UNBOUND) or (
                not context.segments_to_bind):
            return
        context.set_binding(
            context.segments_to_bind[0][api.ID], portbindings.VIF_TYPE_OVS,
            {portbindings.CAP_PORT_FILTER: True},
            status=constants.PORT_STATUS_ACTIVE)


def report_floating_ip(resource, event, trigger, payload):
    """Tell Neutron whether a floating IP forwards to a port.

    :param trigger: the L3 plugin.
    """
    status = (constants.FLOATINGIP_STATUS_ACTIVE
              if payload.latest_state['port_id']
              else constants.FLOATINGIP_STATUS_DOWN)
    trigger.update_floatingip_status(
        payload.context, payload.resource_id, status)
