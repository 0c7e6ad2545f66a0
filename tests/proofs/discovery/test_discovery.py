# SPDX-License-Identifier: Apache-2.0

"""The sandboxes of the proof, one after the other, and what runs in each."""

import json

import testscenarios
from testtools import content

from magnum_capi_sandbox import releases
from magnum_capi_tempest import texts
from tests.proofs import case
from tests.proofs.discovery import box as box_module
from tests.proofs.discovery import parts
from tests.proofs.discovery import suite

load_tests = testscenarios.load_tests_apply_scenarios

#: Functions of :mod:`.parts`, and the arguments of :class:`.box.Box`.
PARTS = {
    'filter': (parts.cured_or_named, {'with_filter': True}),
    'plain': (parts.rest, {'with_filter': False}),
    'broken-filter': (parts.broken, {'with_filter': True, 'broken': True}),
    'broken-plain': (parts.broken, {'with_filter': False, 'broken': True}),
    'patched': (parts.patched, {'with_filter': False, 'patched': True}),
    'broken-patched': (parts.patched, {
        'with_filter': False, 'patched': True, 'broken': True}),
    **{f'{name}-{release.name}': (parts.earlier, {
        'with_filter': with_filter, 'magnum': release.name})
        for release in releases.RELEASES[:-1]
        for name, with_filter in (('filter', True), ('plain', False))},
}


class DiscoveryTest(case.ProofTest):
    """The tests of discovery fail where they must, and only there."""

    scenarios = [(name, {'name': name, 'function': function,
                         'options': options})
                 for name, (function, options) in PARTS.items()]

    def test_part(self):
        box = box_module.Box(self.name, **self.options)
        self.addCleanup(box.sandbox.down, box.progress)
        box.up()
        box.prepare()
        problems, run = self.function(box, suite.load())
        tests = {test.name: test.status for test in run.tests}
        self.addDetail('tests', content.text_content(
            json.dumps(tests, indent=1)))
        self.judge(not problems, text='\n  '.join((
            texts.number(len(tests), 'test'), *problems)))
