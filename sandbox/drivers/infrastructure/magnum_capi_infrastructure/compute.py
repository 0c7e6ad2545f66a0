# SPDX-License-Identifier: Apache-2.0
"""Nova's compute driver: a server is a machine of the machine service.

Nova only accepts drivers in its own package (``nova.virt.driver``): the
program that starts nova-compute adds this module to it as
``nova.virt.sandbox``.

The settings are extra specs of the flavor, so that they work for every client
of Nova: ``sandbox:create_delay`` and ``sandbox:delete_delay`` in seconds, and
``sandbox:failure``, the message with which a server fails.
"""

import base64
import collections
import json
import time
import uuid

from nova.api.metadata import base as metadata
from nova.compute import power_state
from nova.compute import task_states
import nova.conf
from nova import exception
from nova import objects
from nova.objects import fields
from nova.virt import driver
from nova.virt import hardware
import os_resource_classes as classes
from oslo_config import cfg
from oslo_log import log as logging

from magnum_capi_infrastructure import machines
from magnum_capi_infrastructure import network

LOG = logging.getLogger(__name__)
CONF = nova.conf.CONF
CONF.register_opts([
    cfg.StrOpt('machines', help='Socket of the machine service.'),
    cfg.BoolOpt('containers', default=False,
                help='Whether servers are containers, with a network.'),
    cfg.IntOpt('vcpus', default=256, help='Of each host.'),
    cfg.IntOpt('ram', default=524288, help='MiB of each host.'),
    cfg.IntOpt('disk', default=8192, help='GiB of each host.'),
], group='sandbox')

#: Namespace for UUIDs of hosts' nodes, which are the same after every start.
_NODES = uuid.UUID('7a0b5a86-6c1c-4f0e-9d57-6b1f0f3f6c11')

_STATES = collections.defaultdict(
    lambda: power_state.CRASHED,
    running=power_state.RUNNING, stopped=power_state.SHUTDOWN)


def identity(host):
    """The UUID of a host's node, which Nova keeps in a file, too."""
    return str(uuid.uuid5(_NODES, host))


class MachineDriver(driver.ComputeDriver):
    """Servers as machines of the machine service."""

    capabilities = driver.ComputeDriver.capabilities | {
        'supports_attach_interface': True,
        'supports_image_type_raw': True,
        'supports_image_type_qcow2': True,
        'supports_tagged_attach_interface': True,
    }

    def __init__(self, virtapi):
        super().__init__(virtapi)
        self._machines = machines.Machines(CONF.sandbox.machines)
        self._host = CONF.host
        if CONF.sandbox.containers:
            # A container has the interfaces with which it was made. Nova
            # refuses to attach others, with a reason.
            self.capabilities = self.capabilities | {
                'supports_attach_interface': False,
                'supports_tagged_attach_interface': False,
            }

    def init_host(self, host):
        self._host = host

    # What there is.

    def get_available_nodes(self, refresh=False):
        return [self._host]

    def get_nodenames_by_uuid(self, refresh=False):
        return {identity(self._host): self._host}

    def list_instances(self):
        return [m['name'] for m in self._list()]

    def list_instance_uuids(self):
        return [m['id'] for m in self._list()]

    def _list(self):
        try:
            return machines.Machines(CONF.sandbox.machines, 1).list()
        except (machines.Refused, machines.Unreachable) as e:
            # nova-compute must survive this; it asks again later.
            LOG.warning('%s', e)
            return []

    def get_available_resource(self, nodename):
        options = CONF.sandbox
        return {
            'uuid': identity(nodename),
            'hypervisor_hostname': nodename, 'hypervisor_type': 'sandbox',
            'hypervisor_version': 1, 'numa_topology': None,
            'vcpus': options.vcpus, 'memory_mb': options.ram,
            'local_gb': options.disk, 'vcpus_used': 0, 'memory_mb_used': 0,
            'local_gb_used': 0, 'disk_available_least': options.disk,
            'cpu_info': json.dumps({'arch': 'x86_64'}),
            'supported_instances': [(
                fields.Architecture.X86_64, fields.HVType.QEMU,
                fields.VMMode.HVM)],
        }

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        ratios = self._get_allocation_ratios(
            provider_tree.data(nodename).inventory)
        options = CONF.sandbox
        provider_tree.update_inventory(nodename, {
            name: {'total': total, 'min_unit': 1, 'max_unit': total,
                   'step_size': 1, 'reserved': 0,
                   'allocation_ratio': ratios[name]}
            for name, total in ((classes.VCPU, options.vcpus),
                                (classes.MEMORY_MB, options.ram),
                                (classes.DISK_GB, options.disk))})

    def get_info(self, instance, use_cache=True):
        return hardware.InstanceInfo(
            state=_STATES[_found(
                instance, self._machines.get(instance.uuid))['state']],
            internal_id=instance.uuid)

    def get_console_output(self, context, instance):
        # Nova would encode a string as Latin-1.
        return _found(
            instance, self._machines.console(instance.uuid)).encode()

    # What happens.

    def spawn(self, context, instance, image_meta, injected_files,
              admin_password, allocations, network_info=None,
              block_device_info=None, power_on=True, accel_info=None):
        specs = instance.flavor.extra_specs
        self._build(context, instance,
                    float(specs.get('sandbox:create_delay', 0)))
        if 'sandbox:failure' in specs:
            raise exception.BuildAbortException(
                instance_uuid=instance.uuid, reason=specs['sandbox:failure'])
        try:
            self._put(instance, network_info, injected_files, admin_password)
            if not power_on:
                self._machines.act(instance.uuid, 'stop')
        except (machines.Failed, machines.Unreachable) as e:
            # Nova tries other hosts.
            raise exception.InstanceDeployFailure(reason=str(e)) from e
        except machines.Refused as e:
            # No other host would understand it either.
            raise exception.BuildAbortException(
                instance_uuid=instance.uuid, reason=str(e)) from e

    def _build(self, context, instance, seconds):
        """Take this long, unless the server is deleted meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            # The delay of a flavor, not a wait for a condition.
            time.sleep(min(left, 1))  # noqa: MC103
            found = objects.Instance.get_by_uuid(context, instance.uuid)
            if found.task_state == task_states.DELETING:
                raise exception.UnexpectedDeletingTaskStateError(
                    instance_uuid=instance.uuid,
                    expected={'task_state': [task_states.SPAWNING]},
                    actual={'task_state': found.task_state})

    def resume_state_on_host_boot(self, context, instance, network_info,
                                  block_device_info=None, share_info=None):
        self._put(instance, network_info)

    def destroy(self, context, instance, network_info, block_device_info=None,
                destroy_disks=True, destroy_secrets=True):
        # The delay of a flavor, not a wait for a condition.
        time.sleep(float(instance.flavor.extra_specs.get(  # noqa: MC103
            'sandbox:delete_delay', 0)))
        self._machines.delete(instance.uuid)

    def cleanup(self, context, instance, network_info, block_device_info=None,
                destroy_disks=True, migrate_data=None, destroy_vifs=True,
                destroy_secrets=True):
        pass

    def reboot(self, context, instance, network_info, reboot_type,
               block_device_info=None, bad_volumes_callback=None,
               accel_info=None, share_info=None):
        if not self._machines.act(instance.uuid, 'reboot'):
            # Like from its disk, from the data in Nova's database.
            self._put(instance, network_info)

    def power_off(self, instance, timeout=0, retry_interval=0):
        _found(instance, self._machines.act(instance.uuid, 'stop'))

    def power_on(self, context, instance, network_info,
                 block_device_info=None, accel_info=None, share_info=None):
        if not self._machines.act(instance.uuid, 'start'):
            # The service has restarted since, and does not know it.
            self._put(instance, network_info)

    def plug_vifs(self, instance, network_info):
        """Attach a container again that has outlived the machine service.

        Nova asks for it when it starts. In memory there is nothing to plug.
        """
        if not CONF.sandbox.containers:
            return
        try:
            found = self._machines.get(instance.uuid)
            if found and found['state'] == 'running':
                self._put(instance, network_info)
        except (machines.Refused, machines.Unreachable) as e:
            # Nova starts without this server.
            raise exception.VirtualInterfacePlugException(str(e)) from e

    def unplug_vifs(self, instance, network_info):
        """The interfaces go with the server."""

    def attach_interface(self, context, instance, image_meta, vif):
        if CONF.sandbox.containers:
            raise exception.InterfaceAttachFailed(
                f'Server {instance.uuid} is a container, which keeps its '
                f'interfaces: cannot attach port {vif["id"]}',
                instance_uuid=instance.uuid)

    def detach_interface(self, context, instance, vif):
        if CONF.sandbox.containers:
            raise exception.InterfaceDetachFailed(
                f'Server {instance.uuid} is a container, which keeps its '
                f'interfaces: cannot detach port {vif["id"]}',
                instance_uuid=instance.uuid)

    def _put(self, instance, network_info, files=None, password=None):
        described = machine(instance, network_info)
        if CONF.sandbox.containers:
            described |= {
                'interfaces': network.interfaces(network_info),
                'config_drive': config_drive(instance, network_info, files,
                                             password),
            }
        self._machines.put(instance.uuid, described)


def _found(instance, answer):
    """The answer of the machine service, unless it has no such machine.

    :raises InstanceNotFound: the answer is None or False.
    """
    if answer is None or answer is False:
        raise exception.InstanceNotFound(instance_id=instance.uuid)
    return answer


def config_drive(instance, network_info, files=None, password=None):
    """The files of a config drive in base64, by path.

    They are those that nova.virt.libvirt.driver writes, for any server:
    there is no metadata service.
    """
    found = metadata.InstanceMetadata(
        instance, content=files, network_info=network_info,
        extra_md={'admin_pass': password} if password else {})
    return {path: _base64(data)
            for path, data in found.metadata_for_config_drive()}


def _base64(data):
    # Some are text, as nova.virt.configdrive says.
    return base64.b64encode(
        data.encode() if isinstance(data, str) else data).decode()


def machine(instance, network_info):
    """The description of a server for the machine service."""
    flavor = instance.flavor
    return {
        # What Cluster API calls it; instance.name is "instance-0000000a".
        'name': instance.hostname or instance.display_name,
        'user_data': instance.user_data,
        'addresses': [ip['address'] for vif in network_info or ()
                      for ip in vif.fixed_ips()],
        'flavor': {'name': flavor.name, 'vcpus': flavor.vcpus,
                   'ram_mib': flavor.memory_mb, 'disk_gib': flavor.root_gb},
        'image': instance.image_ref or '',
        # These say which kubelet it has; kubeadm's join does not.
        'image_properties': {
            key.removeprefix('image_'): value
            for key, value in instance.system_metadata.items()
            if key.startswith('image_')},
        'metadata': dict(instance.metadata or {}),
    }
