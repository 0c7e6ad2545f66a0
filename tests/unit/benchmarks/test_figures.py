# SPDX-License-Identifier: Apache-2.0

import types

from sidebyside import figures
import testtools

METRICS = '''\
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",resource="clusters",verb="GET"} 7
apiserver_request_total{code="404",resource="secrets",verb="GET",x="y"} 2
apiserver_request_total{code="200",resource="machines",verb="LIST"} 1e+01
apiserver_request_total{code="200",resource="machines",verb="WATCH"} 5
apiserver_request_total{code="200",resource="",verb="GET"} 99
apiserver_request_sum{code="200",resource="machines",verb="LIST"} 4
'''


def poll(**values):
    return {'status': 'UPDATE_IN_PROGRESS', 'requests': 1, 'handshakes': 0,
            'cpu': 5.0, 'wall': 9.0, 'children': 0.0, 'own': 1.0, **values}


def life(asked=0, shown=30, true=20, early='', addons='', blind=1.0):
    return types.SimpleNamespace(
        asked=asked, shown=shown, true=true, early=early, addons=addons,
        blind=blind)


def size(clusters=1, **means):
    """Results with means of a poll's requests and CPU of both drivers."""
    found = {}
    for name, (requests, cpu, premature) in means.items():
        found[name] = {
            'held': {'requests': {'mean': requests}, 'cpu': {'mean': cpu},
                     'premature': premature},
            'create': {'premature': premature}}
    return {'clusters': clusters, 'drivers': found}


class SpreadTest(testtools.TestCase):

    def test_rare_and_dear_polls_show_in_the_mean(self):
        self.assertEqual(
            {'n': 4, 'mean': 2.75, 'median': 1, 'min': 1, 'max': 8},
            figures.spread([1, 8, None, 1, 1]))

    def test_of_nothing_is_nothing(self):
        self.assertIsNone(figures.spread([None]))


class PollsTest(testtools.TestCase):

    def test_each_measure_by_its_name(self):
        found = figures.polls([poll(), poll(requests=3)])
        self.assertEqual(2, found['requests']['mean'])
        self.assertEqual(5, found['cpu']['median'])


class LivesTest(testtools.TestCase):

    def test_seconds_to_the_real_end_and_from_there(self):
        found = figures.lives([life(), life(asked=10)])
        self.assertEqual(25, found['seconds']['mean'])
        self.assertEqual(15, found['ready']['mean'])
        self.assertEqual(10, found['lag']['mean'])
        self.assertEqual(0, found['premature'])

    def test_complete_too_early_is_no_lag(self):
        found = figures.lives([
            life(), life(shown=12, true=40, early='no worker', addons='cni')])
        self.assertEqual(1, found['lag']['n'])
        self.assertEqual(1, found['premature'])
        self.assertEqual(28, found['early']['mean'])
        self.assertEqual(['no worker'], found['missing'])
        self.assertEqual(1, found['before_addons'])

    def test_none_is_no_error(self):
        self.assertEqual(0, figures.lives([])['premature'])


class VerdictTest(testtools.TestCase):

    def test_half_is_met_and_more_is_not(self):
        lines, premature = figures.verdict([size(
            k8s_capi_v1=(1.5, 6, 0), k8s_capi_helm_v1=(3, 10, 2))])
        self.assertIn('0.50', lines[0])
        self.assertTrue(lines[0].endswith(': met'))
        self.assertIn('0.60', lines[1])
        self.assertTrue(lines[1].endswith(': NOT MET'))
        self.assertEqual(0, premature)

    def test_ours_too_early_is_counted_at_all_sizes(self):
        _lines, premature = figures.verdict([
            size(k8s_capi_v1=(1, 1, 1)), size(2, k8s_capi_v1=(1, 1, 2))])
        self.assertEqual(6, premature)

    def test_the_other_alone_has_no_goal(self):
        lines, premature = figures.verdict([
            size(k8s_capi_helm_v1=(3, 10, 2))])
        self.assertEqual((1, 0), (len(lines), premature))

    def test_nothing_to_divide_by(self):
        self.assertIsNone(figures.ratio(1, 0))
        self.assertIsNone(figures.ratio(None, 2))


class CountedTest(testtools.TestCase):

    def test_objects_only_and_no_watches(self):
        self.assertEqual({'GET': 9, 'LIST': 10}, figures.counted(METRICS))

    def test_only_what_changed_is_a_difference(self):
        self.assertEqual({'LIST': 2, 'PUT': 1}, figures.difference(
            {'GET': 5, 'LIST': 4, 'PUT': 1}, {'GET': 5, 'LIST': 2}))

    def test_what_controllers_ask_for_is_taken_off(self):
        # 100 sent in 20 s; 5 in 5 s without, so 20 of the 120 are others'.
        self.assertAlmostEqual(0, figures.off(
            {'GET': 110, 'LIST': 10}, {'GET': 5}, 100, 20, 5))
        self.assertAlmostEqual(0.2, figures.off(
            {'GET': 120}, {}, 100, 20, 5))


class TableTest(testtools.TestCase):

    def test_all_that_went_wrong_is_told(self):
        one = figures.polls([poll()])
        found = figures.lives([life(early='no worker', addons='cni')])
        found['cpu'] = {'magnum': 1.5, 'helm': 0.25, 'seconds': 40}
        text = '\n'.join(figures.table([{'clusters': 7, 'drivers': {
            'd': {'first': one, 'held': one, 'last': one,
                  'create': found}}}]))
        for part in ('7 clusters', 'API requests 1.00', 'no worker',
                     'before all addons', 'of helm 0.25 s'):
            self.assertIn(part, text)
