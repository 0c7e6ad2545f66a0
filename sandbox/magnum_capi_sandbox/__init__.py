# SPDX-License-Identifier: Apache-2.0
"""A WHOLE CLOUD on loopback, in under a minute.

Real Keystone, Glance, Nova API, Neutron API, Cinder API and Magnum, with a
real Cluster API management cluster (whose OpenStack machines are in memory),
to test a Magnum driver without devstack. ::

    box = sandbox.Box()
    box.up(sandbox.Spec(profile='embedded'), progress.Progress())
    box.down(progress.Progress())
"""

from magnum_capi_sandbox.box import Box
from magnum_capi_sandbox.box import running
from magnum_capi_sandbox.spec import Spec

__all__ = ['Box', 'Spec', 'running']
