# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""Does a cluster of Magnum's conform to Kubernetes?"""

import os
import pathlib

import fixtures
from tempest import config
from tempest.lib import decorators

from magnum_capi_tempest.conformance.running import life
from magnum_capi_tempest.conformance.running import runner
from magnum_capi_tempest.conformance.running import runs
from magnum_capi_tempest.conformance.showing import presentation
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import report
from magnum_capi_tempest.tests import access
from magnum_capi_tempest.tests import base
from magnum_capi_tempest.tests import details

CONF = config.CONF


class ConformanceTest(base.BaseMagnumCapiTest):

    required_options = (*base.TEMPLATE_OPTIONS, 'conformance_mode')

    @decorators.attr(type=['slow', 'conformance'])
    @decorators.idempotent_id('d3a29b0e-60b4-4f0c-9c5e-2e1f6a7c8d41')
    def test_conformance(self):
        cluster = self.create_cluster(self.create_template())

        ended = self.run_conformance(cluster)

        self.assertEqual(verdict.PASSED, ended.verdict.outcome,
                         ', '.join(ended.verdict.reasons))
        self.assertGreater(len(ended.result.ran), 0)

    def run_conformance(self, cluster):
        """Run the tests in a cluster and keep what they leave."""
        private = self.useFixture(fixtures.TempDir()).path
        # Parallel workers, and runs of other users, meet no run of ours.
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', os.path.join(private, 'state')))
        path = os.path.join(private, 'kubeconfig')
        access.write_kubeconfig(self.magnum.certificates, cluster, path)
        folder = pathlib.Path(
            CONF.magnum_capi.conformance_results or private, cluster['name'])
        ended = life.run(life.Wish(
            runs.Target(kubeconfig=path),
            runner.Plan(mode=CONF.magnum_capi.conformance_mode), folder,
            name='conformance'), life.World())
        shown = presentation.run(ended.result, ended.verdict)
        report.write(shown, folder)
        self.addDetail('conformance', details.text(
            {'verdict': shown.verdict, 'counts': dict(ended.result.counts),
             'reasons': ended.verdict.reasons, 'facts': dict(shown.facts)}))
        return ended
