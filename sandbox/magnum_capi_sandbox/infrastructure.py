# SPDX-License-Identifier: Apache-2.0
"""Where the clusters of a sandbox run: in memory, or on a real OpenStack.

*memory*: machines, networks and load balancers are objects of Cluster API
only, reconciled in memory. *openstack*: they are servers of Nova, ports and
routers of Neutron, load balancers of Octavia; only the hypervisor and what
forwards packets are replaced, by the drivers in :data:`DRIVERS`.
"""

MEMORY, OPENSTACK = 'memory', 'openstack'

KINDS = (MEMORY, OPENSTACK)

#: Distribution with the drivers of Nova, Neutron and Octavia.
DRIVERS = 'sandbox/drivers/infrastructure'

#: Pins of the cloud's packages that the release's file does not have.
PINS = 'sandbox/constraints/openstack.txt'
