# SPDX-License-Identifier: Apache-2.0

"""Seeded defects that show only where clusters have real servers."""

from magnum_capi_sandbox import infrastructure
from tests.proofs import proof
from tests.proofs.suite_defects import proof as suite_defects


class CloudDefects(suite_defects.SuiteDefects):
    name = 'cloud-defects'
    summary = ('Run the Tempest suite on a real OpenStack against drivers '
               'that leave something there, or that may do too little.')
    docs = proof.DOCS / 'cloud-defects.csv'
    port_base = 28000
    jobs = 2
    infrastructure = infrastructure.OPENSTACK


PROOF = CloudDefects()
