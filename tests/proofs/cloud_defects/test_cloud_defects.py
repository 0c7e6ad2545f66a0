# SPDX-License-Identifier: Apache-2.0

"""Seeded defects that show only where clusters have real servers."""

import testscenarios

from tests.proofs.suite_defects import box
from tests.proofs.suite_defects import test_suite_defects as suite_defects

load_tests = testscenarios.load_tests_apply_scenarios


class DefectTest(suite_defects.DefectTest):

    kind = box.CloudBox
    scenarios = suite_defects.defects(kind)


class HealthyTest(suite_defects.HealthyTest):

    kind = box.CloudBox
