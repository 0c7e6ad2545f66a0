# SPDX-License-Identifier: Apache-2.0

"""Each kind of finding once, when it must be there and when it must not."""

import itertools
import json

import testtools

from magnum_capi.discovery import audit
from magnum_capi.discovery.audit import findings
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import model
from magnum_capi.discovery import paste

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
FLATCAR = model.ClusterType('vm', 'flatcar', 'kubernetes')
DEBIAN = model.ClusterType('vm', 'debian', 'kubernetes')
A = model.Offer('a_drv', (UBUNTU,), origin='a 1.0')
B = model.Offer('b_drv', (UBUNTU,))
F = model.Offer('f_drv', (FLATCAR,))
BETA = model.Offer('z_beta', (UBUNTU,), beta=True)
BROKEN = model.Offer('broken', error='import: KeyError: 1', origin='broken 2')
TWICE = model.Offer('twice', error='registered more than once, by x and y')
NOTHING = model.Offer('empty', error='provides: no cluster types')

OFF, ON = paste.Position.ABSENT, paste.Position.IN_PLACE


def catalog(*offers, **policy):
    for name in ('disabled_drivers', 'enabled_beta_drivers'):
        policy[name] = frozenset(policy.get(name, ()))
    return model.Catalog(offers, model.Policy(**policy))


def as_read(values):
    """As clouds send them: no text is the very object of a driver's."""
    return json.loads(json.dumps(values))


def image(**properties):
    return seen.Image(id='1', name='x', **as_read(properties))


def template(**fields):
    return seen.Template(**as_read({
        'uuid': 'u', 'name': 't', 'image_id': '1', 'driver': 'a_drv',
        'cluster_distro': 'ubuntu'} | fields))


def images(*found):
    return seen.Cloud(found)


def templates(*found, **properties):
    """With an image of the templates; it says what nobody objects to."""
    return seen.Cloud((image(**(properties or {'os_distro': 'ubuntu'})),),
                      found)


#: (code, subject, what the text must have, catalog, cloud)
CASES = (
    ('broken', 'driver broken', r'broken 2.*import: KeyError.*can start with',
     catalog(A, BROKEN), None),
    ('broken', 'driver y', 'construct: x. The first request.*status 500',
     catalog(A, model.Offer('y', error='construct: x')), None),
    ('duplicate-name', 'driver twice', 'by x and y', catalog(A, TWICE), None),
    ('provides-nothing', 'driver empty', 'no cluster type',
     catalog(A, NOTHING), None),
    ('beta-wins', 'type (vm, ubuntu, kubernetes)', 'z_beta.*refuses.*a_drv',
     catalog(A, BETA), None),
    ('shadowed', 'type (vm, ubuntu, kubernetes)', 'asks b_drv.*driver a_drv',
     catalog(A, B), None),
    ('clash', 'type (vm, ubuntu, kubernetes)',
     'by a_drv, b_drv.*refuses.*up to 22.*gets b_drv.*23.*gets a_drv',
     catalog(A, B), None),
    ('clash', 'type (vm, ubuntu, kubernetes)', '23.*gets f_drv',
     catalog(A, B, F, default_driver='f_drv'), None),
    ('clash', 'type (vm, ubuntu, kubernetes)', '23.*is refused',
     catalog(A, B, default_driver='nobody'), None),
    ('clash-by-name', 'type (vm, ubuntu, kubernetes)',
     'by a_drv, b_drv.*filter gives a_drv.*23.*gets f_drv',
     catalog(A, B, F, default_driver='f_drv', mode=model.Mode.HIBISCUS),
     None),
    ('clash-with-default', 'type (vm, ubuntu, kubernetes)',
     'by a_drv, b_drv.*gives b_drv', catalog(A, B, default_driver='b_drv'),
     None),
    ('without-filter', 'type (vm, flatcar, kubernetes)',
     'gives f_drv.*gets f_drv.*23.*gets a_drv', catalog(A, F), None),
    ('without-filter', 'type (vm, ubuntu, kubernetes)',
     'gives b_drv.*gets b_drv.*23.*gets a_beta',
     catalog(model.Offer('a_beta', (UBUNTU,), beta=True), B), None),
    ('default-unusable', 'option default_driver',
     "'a_drw' is not installed.*never chosen.*Is a_drv meant",
     catalog(A, default_driver='a_drw'), None),
    ('default-unusable', 'option default_driver', "'a_drv' is disabled, so.*",
     catalog(A, B, default_driver='a_drv', disabled_drivers=['a_drv']), None),
    ('default-unusable', 'option default_driver', "'broken' is broken",
     catalog(A, BROKEN, default_driver='broken'), None),
    ('default-unusable', 'option default_driver', "'z_beta' is beta, not",
     catalog(F, BETA, default_driver='z_beta'), None),
    ('beta', 'driver z_beta', 'not enabled', catalog(F, BETA), None),
    ('unknown-in-option', 'option disabled_drivers',
     "'b_drw', which is not installed. Is b_drv meant",
     catalog(B, disabled_drivers=['b_drw']), None),
    ('unknown-in-option', 'option enabled_beta_drivers', "'nobody'",
     catalog(B, enabled_beta_drivers=['nobody']), None),
    ('os-names-other-driver', 'driver x', "'a_drv', which has the name",
     catalog(A, model.Offer('x', (UBUNTU._replace(os='a_drv'),))), None),
    ('os-names-other-driver', 'driver x', "'a_drv:ubuntu', which has",
     catalog(A, model.Offer('x', (UBUNTU._replace(os='a_drv:ubuntu'),))),
     None),
    ('os-names-other-driver', 'driver a', "'b_drv', which has",
     catalog(B, model.Offer('a', (UBUNTU._replace(os='b_drv'),))), None),
    ('filter-misplaced', 'paste pipeline', 'not behind authtoken',
     catalog(A), None),

    ('image-no-os-distro', 'image x (1)', 'every Magnum refuses',
     catalog(A), images(image(magnum_distro='ubuntu'))),
    ('image-no-distro', 'image x (1)', 'does not say',
     catalog(A), images(image(magnum_driver='a_drv'))),
    ('image-ambiguous', 'image x (1)',
     'ambiguous.*a_drv, b_drv', catalog(A, B),
     images(image(magnum_distro='ubuntu', os_distro='ubuntu'))),
    ('image-other-os-distro', 'image x (1)',
     "'flatcar' by magnum_distro, but 'fedora' for", catalog(F),
     images(image(magnum_distro='flatcar', os_distro='fedora'))),
    ('image-not-supported', 'image x (1)', 'No usable driver',
     catalog(A), images(image(magnum_distro='win', os_distro='win'))),
    ('image-names-unknown', 'image x (1)', "'nobody'.*is not installed",
     catalog(A), images(image(os_distro='ubuntu', magnum_driver='nobody'))),
    ('image-names-disabled', 'image x (1)',
     "'b_drv'.*is disabled",
     catalog(A, B, disabled_drivers=['b_drv']),
     images(image(os_distro='ubuntu', magnum_driver='b_drv'))),
    ('image-names-beta', 'image x (1)', "'z_beta'.*is a beta driver",
     catalog(A, BETA),
     images(image(os_distro='ubuntu', magnum_driver='z_beta'))),
    ('image-names-broken', 'image x (1)', "'broken'.*cannot be loaded",
     catalog(A, BROKEN),
     images(image(os_distro='ubuntu', magnum_driver='broken'))),
    ('image-names-mismatch', 'image x (1)',
     "'f_drv'.*does not provide .vm, ubuntu",
     catalog(A, F),
     images(image(os_distro='ubuntu', magnum_driver='f_drv'))),
    ('images-ambiguous', "images with os_distro 'ubuntu'",
     'a_drv, b_drv; 2 images', catalog(A, B),
     images(image(os_distro='ubuntu'), seen.Image('2', os_distro='ubuntu'))),
    ('image-not-supported', 'image x (1)', r'\(vm, win, kubernetes\)',
     catalog(model.Offer('m', (UBUNTU._replace(server_type='bm'),))),
     images(image(magnum_distro='win', os_distro='win'))),
    ('images-deprecated', "images with os_distro 'ubuntu'", '1 image with',
     catalog(A), images(image(os_distro='ubuntu'))),
    ('template-ambiguous', 'template t (u)',
     'ambiguous',
     catalog(A, B), templates(template(driver=None))),
    ('template-not-supported', 'template t (u)',
     'No usable driver', catalog(A), templates(
         template(driver=None, cluster_distro='debian'))),
    ('template-names-unknown', 'template t (u)', 'is not installed',
     catalog(A), templates(template(driver='nobody'))),
    ('template-names-disabled', 'template t (u)',
     'is disabled',
     catalog(A, B, disabled_drivers=['b_drv']),
     templates(template(driver='b_drv'))),
    ('template-names-beta', 'template t (u)', 'is a beta driver',
     catalog(BETA, A), templates(template(driver='z_beta'))),
    ('template-names-broken', 'template t (u)', 'cannot be loaded',
     catalog(A, BROKEN), templates(template(driver='broken'))),
    ('template-names-mismatch', 'template t (u)',
     'does not provide .vm, ubuntu', catalog(A, F),
     templates(template(driver='f_drv'))),
    ('template-distro', 'template t (u)', "'fedora', but.*'ubuntu'",
     catalog(A), templates(template(cluster_distro='fedora'),
                           magnum_distro='ubuntu', os_distro='fedora')),
    ('template-image-gone', 'template t (u)', "'2' is not there",
     catalog(A), templates(template(image_id='2'))),
)


class EveryFindingTest(testtools.TestCase):

    def test_it_is_there(self):
        for code, subject, text, drivers, cloud in CASES:
            for position, severity in zip((OFF, ON), findings.RULES[code]):
                if code == 'filter-misplaced':
                    position = paste.Position.BEFORE_AUTHTOKEN
                found = [f for f in audit.audit(drivers, cloud, position)
                         if (f.code, f.subject) == (code, subject)]
                self.assertEqual([severity] if severity else [],
                                 [f.severity for f in found], code)
                for f in found:
                    self.assertRegex(f.text, text)
                    for one in (f.text, f.remedy):
                        self.assertRegex(one, r'\A[^\n]*[^\n. ]\Z', f)

    def test_the_table_has_all_of_them(self):
        self.assertEqual(
            {code for code in findings.RULES if 'stranded' not in code},
            {case[0] for case in CASES})

    def test_it_is_never_worse_with_the_filter(self):
        order = [None, *reversed(findings.Severity)]
        for code, (off, on) in findings.RULES.items():
            self.assertLessEqual(order.index(on), order.index(off), code)


class OthersTest(testtools.TestCase):
    """What must not be found beside."""

    def test_all_codes(self):
        z, metal = model.Offer('z', (UBUNTU,)), UBUNTU._replace(
            server_type='bm')
        right = {'magnum_distro': 'ubuntu', 'os_distro': 'ubuntu'}
        own = model.Offer('x', (UBUNTU._replace(os='x'),
                                UBUNTU._replace(os='x:ubuntu')))
        for codes, drivers, cloud in (
                ([], catalog(A), None),
                (['broken'], catalog(A, BROKEN), None),
                # "broken" sorts before "z": it would be Magnum's choice.
                (['broken'], catalog(BROKEN, z), None),
                (['duplicate-name'], catalog(A, TWICE), None),
                (['provides-nothing'], catalog(A, NOTHING), None),
                (['beta-wins', 'beta'], catalog(A, BETA), None),
                (['beta'], catalog(BETA, A), None),
                # The remedies.
                ([], catalog(A, BROKEN, disabled_drivers=['broken']), None),
                ([], catalog(A, BETA, disabled_drivers=['z_beta']), None),
                ([], catalog(A, B, disabled_drivers=['b_drv']), None),
                (['clash', 'shadowed'], catalog(
                    A, BETA, enabled_beta_drivers=['z_beta']), None),
                # The naming alternatives of the specification.
                ([], catalog(own), None),
                ([], catalog(model.Offer('m_drv', (
                    UBUNTU._replace(os=as_read('m_drv')),))), None),
                ([], catalog(own), images(image(
                    os_distro='ubuntu', magnum_distro='x:ubuntu'))),
                ([], catalog(own), images(image(
                    os_distro='ubuntu', magnum_distro='x'))),
                ([], catalog(A), images(image())),
                ([], catalog(A), images(image(**right))),
                ([], catalog(A), images(image(os_distro='debian'))),
                ([], catalog(model.Offer('a', (UBUNTU, metal))),
                 images(image(**right))),
                # A driver of one server type.
                (['without-filter'], catalog(A, model.Offer('m', (metal,))),
                 images(image(magnum_driver='a_drv', os_distro='ubuntu'))),
                ([], catalog(A), templates(
                    template(), magnum_driver='a_drv', **right)),
                (['images-deprecated'], catalog(A), templates(
                    template(driver=None, image_id='x')))):
            self.assertEqual(
                codes, [f.code for f in audit.audit(drivers, cloud)],
                (drivers.offers, cloud))


class OnlyTest(testtools.TestCase):
    """One thing is found once, under one name."""

    def only(self, codes, of, cloud=None):
        self.assertEqual(codes, [f.code for f in audit.audit(of, cloud)])

    def test_why_an_image_may_not_be_there(self):
        gone = templates(template(image_id='2'))
        for cloud, why in ((gone, 'not the only one of this name'),
                           (seen.Cloud(gone.images, gone.templates,
                                       everything=False), 'not visible')):
            found = {f.code: f.text for f in audit.audit(catalog(A), cloud)}
            self.assertIn(why, found['template-image-gone'])

    def test_what_is_true_of_several_types_is_said_once(self):
        both = (UBUNTU, FLATCAR)
        self.assertEqual(
            [(code, 'types (vm, flatcar, kubernetes), '
              '(vm, ubuntu, kubernetes)') for code in ('clash', 'shadowed')],
            [(f.code, f.subject) for f in audit.audit(catalog(
                model.Offer('a', both), model.Offer('b', both)))])

    def test_the_one_that_is_asked_sorts_first(self):
        found = {f.code: f.text for f in audit.audit(catalog(B, A))}
        self.assertRegex(found['shadowed'], 'asks a_drv .* driver b_drv$')

    def test_a_name_of_several_images_leads_to_none(self):
        twins = seen.Cloud((seen.Image('1', 'x'), seen.Image('2', 'x'),
                            seen.Image('3', 'y')))
        self.assertIsNone(twins.image('x'))
        self.assertEqual('3', twins.image('y').id)


class OrderTest(testtools.TestCase):

    def test_the_code_goes_before_the_subject(self):
        self.assertEqual(findings.RULES['beta'],
                         findings.RULES['images-deprecated'])
        self.assertEqual(['z', 'a'], [f.subject for f in findings.judged((
            findings.Draft('images-deprecated', 'a', 't', 'r'),
            findings.Draft('beta', 'z', 't', 'r')), OFF)])

    def test_sorted_and_the_same_for_every_order(self):
        cloud = seen.Cloud((image(os_distro='ubuntu', magnum_driver='x'),
                            seen.Image('2', magnum_distro='flatcar')),
                           (template(), template(uuid='v', driver='x')))
        # Their order among themselves is Magnum's: that is what differs.
        drivers = catalog(A, B, F, BETA)
        expected = audit.audit(drivers, cloud)
        for shuffled in itertools.permutations(cloud.images):
            other = seen.Cloud(shuffled, cloud.templates[::-1])
            self.assertEqual(expected, audit.audit(drivers, other))
        order = list(findings.Severity)
        self.assertEqual(
            sorted(expected, key=lambda f: order.index(f.severity)),
            list(expected))
        self.assertGreater(len({f.severity for f in expected}), 2)


class HostileTest(testtools.TestCase):

    def test_values_are_escaped_and_cut(self):
        evil = '<b>\x1b[31m%s{0}\n' + 'é' * 4096
        cloud = seen.Cloud(
            (seen.Image(evil, evil, evil, evil, evil),
             seen.Image('2', evil, os_distro=evil)),
            (seen.Template(evil, evil, evil, evil, evil, evil, evil),
             seen.Template('v', evil, '2', 'vm', 'kubernetes', 'ubuntu',
                           None)))
        found = audit.audit(catalog(A, B), cloud)
        self.assertGreater(len(found), 4)
        for f in found:
            for text in f[1:]:
                self.assertTrue(text.isascii() and text.isprintable(), text)
                self.assertLess(len(text), 1500)


FEDORA = model.ClusterType('vm', 'fedora-coreos', 'kubernetes')
HEAT = model.Offer('k8s_fedora_coreos_v1', (FEDORA,), origin='magnum 22.0.0')
CAPI = model.Offer('capi', (UBUNTU,), origin='magnum-capi-helm 1.4.0')
STACK = '7f1a7ec1-3d0c-4b2e-9c55-1a2b3c4d5e6f'


def of_heat(uuid, driver=None, distro='fedora-coreos'):
    return seen.Template(uuid, uuid, cluster_distro=distro, driver=driver)


class StrandedTest(testtools.TestCase):

    def found(self, *templates, offers=(HEAT, CAPI), clusters=()):
        return audit.without(
            HEAT.name, model.Catalog(offers), seen.Cloud(
                templates=templates, clusters=clusters))

    def test_what_loses_its_driver(self):
        found = self.found(
            of_heat('named', HEAT.name), of_heat('null'),
            of_heat('other', 'capi', 'ubuntu'),
            clusters=[seen.Cluster('1', 'heat', 'named', STACK),
                      seen.Cluster('2', 'capi', 'other'),
                      seen.Cluster('3', 'new', 'null')])
        self.assertEqual(
            [('cluster-stranded', 'cluster heat (1)'),
             ('cluster-stranded', 'cluster new (3)'),
             ('template-stranded', 'template named (named)'),
             ('template-stranded', 'template null (null)')],
            [(f.code, f.subject) for f in found])
        self.assertEqual({findings.Severity.ERROR},
                         {f.severity for f in found})
        self.assertIn("driver ('k8s_fedora_coreos_v1') not supported",
                      found[2].text)
        self.assertIn(f'stack in Heat: {STACK}', found[0].remedy)
        self.assertNotIn('in Heat', found[1].remedy)
        self.assertNotIn('adopt', found[0].remedy)

    def test_one_that_can_be_handed_over(self):
        former = model.Offer('k8s_capi_helm_v1', (UBUNTU,))
        heir = model.Offer('k8s_capi_v1', (UBUNTU,))
        for offers, adopts in (((former, heir), True), ((former,), False)):
            cluster, _ = audit.without(
                former.name, model.Catalog(offers), seen.Cloud(
                    templates=[of_heat('t', former.name, 'ubuntu')],
                    clusters=[seen.Cluster('1', 'c', 't', 'c-a2b3c4d5e6f7')]))

            self.assertEqual(
                adopts, 'magnum-capi driver adopt' in cluster.remedy)
            # That is the name of a Helm release.
            self.assertNotIn('Heat', cluster.remedy)
            self.assertIn('management cluster: c-a2b3c4d5e6f7',
                          cluster.remedy)

    def test_a_driver_that_takes_the_type_over(self):
        heir = model.Offer('heir', (FEDORA,), origin='x 1')
        found = self.found(of_heat('null'), offers=(heir, HEAT))
        self.assertIn('selects heir for it, which knows nothing about '
                      'clusters of k8s_fedora_coreos_v1', found[0].text)

    def test_what_had_no_driver_before(self):
        self.assertEqual((), self.found(
            of_heat('named', 'k8s_mesos_v1'),
            of_heat('null', None, 'windows')))

    def test_already_gone(self):
        found = self.found(of_heat('t', HEAT.name), of_heat('null'),
                           of_heat('named', 'k8s_mesos_v1'), offers=(CAPI,))
        self.assertEqual(['template null (null)', 'template t (t)'],
                         [f.subject for f in found])
