# SPDX-License-Identifier: Apache-2.0
"""Mechanism driver of Neutron's ML2 plugin: it binds every port.

A port becomes ACTIVE as soon as it has a host. If its name begins with
``fault.unbound`` this driver refuses it, so that its binding fails like on a
host without a network agent.

A floating IP is ACTIVE while it has a port; normally the L3 agent of its
router reports this. If there is a machine service that forwards packets, it
learns first to which address.
"""

from neutron_lib.api.definitions import portbindings
from neutron_lib.callbacks import events
from neutron_lib.callbacks import registry
from neutron_lib.callbacks import resources
from neutron_lib import constants
from neutron_lib.plugins import directory
from neutron_lib.plugins.ml2 import api
from oslo_config import cfg
from oslo_log import log as logging

from magnum_capi_infrastructure import machines

LOG = logging.getLogger(__name__)
CONF = cfg.CONF
CONF.register_opts([
    cfg.StrOpt('machines', help='Socket of a machine service that forwards.'),
], group='sandbox')

#: Prefix of the names of ports that cannot be bound.
UNBOUND = 'fault.unbound'


class MechanismDriver(api.MechanismDriver):
    """Binds ports to the first segment of their network."""

    def initialize(self):
        for event in (events.AFTER_CREATE, events.AFTER_UPDATE,
                      events.AFTER_DELETE):
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
    deleted = event == events.AFTER_DELETE
    forwards = not deleted and bool(payload.latest_state['port_id'])
    status = (constants.FLOATINGIP_STATUS_ACTIVE if forwards
              else constants.FLOATINGIP_STATUS_DOWN)
    if CONF.sandbox.machines and not _send(payload, forwards):
        status = constants.FLOATINGIP_STATUS_ERROR
    if not deleted:
        trigger.update_floatingip_status(
            payload.context, payload.resource_id, status)


def _send(payload, forwards):
    """Tell the machine service; return whether it has understood."""
    service = machines.Machines(CONF.sandbox.machines)
    state = payload.latest_state
    try:
        if not forwards:
            service.forget(machines.FLOATING_IPS, payload.resource_id)
            return True
        # Whoever has the floating IP need not own the port.
        port = directory.get_plugin().get_port(
            payload.context.elevated(), state['port_id'])
        service.forward(machines.FLOATING_IPS, payload.resource_id, {
            'address': state['floating_ip_address'],
            'network': port['network_id'],
            'fixed': state['fixed_ip_address']})
    except (machines.Refused, machines.Unreachable) as e:
        LOG.warning('Floating IP %s: %s', payload.resource_id, e)
        return False
    return True
