# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.discovery.audit import seen
from magnum_capi.discovery.audit import stranded
from magnum_capi.discovery import model

FEDORA = model.ClusterType('vm', 'fedora-coreos', 'kubernetes')
UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
HEAT = model.Offer('k8s_fedora_coreos_v1', (FEDORA,), origin='magnum 22.0.0')
CAPI = model.Offer('capi', (UBUNTU,), origin='magnum-capi-helm 1.4.0')


def template(uuid, driver=None, distro='fedora-coreos'):
    return seen.Template(uuid, uuid, cluster_distro=distro, driver=driver)


class StrandedTest(testtools.TestCase):

    def found(self, *templates, offers=(HEAT, CAPI), clusters=()):
        return stranded.audit(
            model.Catalog(offers), seen.Cloud(
                templates=templates, clusters=clusters), HEAT.name)

    def test_templates_with_and_without_a_name(self):
        found = self.found(
            template('named', HEAT.name), template('null'),
            template('other', 'capi', 'ubuntu'))
        self.assertEqual(
            [('template-stranded', 'template named (named)'),
             ('template-stranded', 'template null (null)')],
            [(f.code, f.subject) for f in found])
        self.assertIn("driver ('k8s_fedora_coreos_v1') not supported",
                      found[0].text)

    def test_clusters(self):
        found = self.found(
            template('t', HEAT.name), template('u', 'capi', 'ubuntu'),
            clusters=[seen.Cluster('1', 'heat', 't', 'stack'),
                      seen.Cluster('2', 'capi', 'u')])
        self.assertEqual(['cluster heat (1)', 'template t (t)'],
                         [f.subject for f in found])
        self.assertIn('in Heat: stack', found[0].cure)

    def test_a_driver_that_takes_the_type_over(self):
        heir = model.Offer('heir', (FEDORA,), origin='x 1')
        found = self.found(template('null'), offers=(heir, HEAT))
        self.assertIn('selects heir for it, which knows nothing about '
                      'clusters of k8s_fedora_coreos_v1', found[0].text)

    def test_already_gone(self):
        found = self.found(template('t', HEAT.name), offers=(CAPI,))
        self.assertEqual(1, len(found))
