# SPDX-License-Identifier: Apache-2.0
"""What is under the clusters of a sandbox: memory, or a real OpenStack.

*memory*: machines, networks and load balancers are objects of Cluster API
only, reconciled in memory. *openstack*: they are servers of Nova, ports and
routers of Neutron, load balancers of Octavia; only the hypervisor and what
forwards packets are replaced, by the drivers in :data:`DRIVERS`.
"""

MEMORY, OPENSTACK = 'memory', 'openstack'

KINDS = (MEMORY, OPENSTACK)

#: Distribution with the drivers of Nova, Neutron and Octavia.
DRIVERS = 'drivers/infrastructure'

#: Pins of what the cloud has in addition to those of the release's file.
PINS = 'constraints/openstack.txt'
