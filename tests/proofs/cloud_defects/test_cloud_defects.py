# SPDX-License-Identifier: Apache-2.0

"""Seeded defects that show only where clusters have real servers."""

import testscenarios

from magnum_capi_sandbox import infrastructure
from tests.proofs.suite_defects import test_suite_defects as suite_defects

load_tests = testscenarios.load_tests_apply_scenarios


class DefectTest(suite_defects.DefectTest):

    infrastructure = infrastructure.OPENSTACK
    port_base = 28000
    scenarios = suite_defects.defects(infrastructure)


class HealthyTest(suite_defects.HealthyTest):

    infrastructure = infrastructure.OPENSTACK
    port_base = 28000
