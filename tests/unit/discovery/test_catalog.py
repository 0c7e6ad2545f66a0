# SPDX-License-Identifier: Apache-2.0

import importlib
import logging
import os
import pathlib
import sys

import fixtures
from oslo_config import cfg
import testtools

from magnum_capi.discovery import catalog
from magnum_capi.discovery import model
from magnum_capi import errors
from tests.unit.discovery import distributions

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')


class InstalledTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(
            catalog.LOG.name, level=logging.DEBUG,
            format='%(levelname)s %(message)s'))
        self.start_again()

    def start_again(self):
        self.installed = self.useFixture(distributions.Distributions())

    def offers(self, **policy):
        """Those of the test by name; the machine may have others."""
        return catalog.load(model.Policy(**policy)).by_name

    def warnings(self, name):
        return [line for line in self.log.output.splitlines()
                if line.startswith('WARNING') and name in line]

    def provide(self, provides, beta='False'):
        """The offer of a driver with this code."""
        self.installed.module('mct_one', f'''
            class Driver:
                beta = {beta}

                @property
                def provides(self):
                    {provides}
        ''')
        self.installed.add('one', mct_one='mct_one:Driver')
        return self.offers()['mct_one']

    def fail(self, module):
        """The error of a driver whose module has this text."""
        self.installed.module('mct_bad', module)
        self.installed.module('mct_good')
        self.installed.add('bad', mct_bad='mct_bad:Driver')
        self.installed.add('good', mct_good='mct_good:Driver')

        found = catalog.load(model.Policy())
        offers = found.by_name

        # Whatever happens to one, the other is not concerned.
        self.assertEqual((UBUNTU,), offers['mct_good'].types)
        self.assertIsNone(offers['mct_good'].error)
        self.assertEqual((), offers['mct_bad'].types)
        self.assertEqual(model.State.BROKEN,
                         found.states['mct_bad'])
        return offers['mct_bad'].error


class LoadedTest(InstalledTestCase):

    def test_a_beta_driver_with_two_types(self):
        offer = self.provide('''return [
            {'server_type': 'vm', 'os': 'a', 'coe': 'k', 'more': 1},
            {'server_type': 'bm', 'os': 'b', 'coe': 's'}]''', beta='True')

        self.assertTrue(offer.beta)
        self.assertEqual((('vm', 'a', 'k'), ('bm', 'b', 's')), offer.types)

    def test_what_magnum_can_go_through_is_good(self):
        kind = "{'server_type': 'vm', 'os': 'ubuntu', 'coe': 'kubernetes'}"
        for code in (f'return ({kind},)', f'yield {kind}',
                     f'return iter([{kind}])'):
            self.start_again()
            self.assertEqual((UBUNTU,), self.provide(code).types)

    def test_as_many_types_as_there_may_be(self):
        for count, good in ((1000, True), (1001, False)):
            self.installed.module(f'mct_{count}', f"""
                class Driver:
                    beta = False
                    provides = [
                        {{'server_type': 'vm', 'os': f'os{{n}}', 'coe': 'k'}}
                        for n in range({count})]
                """)
            name = f'mct_{count}'
            self.installed.add(name, **{name: f'{name}:Driver'})
            self.assertEqual(good, self.offers()[name].error is None)

    def test_a_text_that_is_more_than_one_is_made_plain(self):
        offer = self.provide('''
                    import enum
                    class Coe(enum.StrEnum):
                        K = 'kubernetes'
                    return [{'server_type': 'vm', 'os': 'ubuntu',
                             'coe': Coe.K}]''')

        self.assertEqual((UBUNTU,), offer.types)
        self.assertIs(str, type(offer.types[0].coe))

    def test_the_order_is_that_of_magnum(self):
        self.installed.module('mct_good')
        self.installed.add('b', mct_z='mct_good:Driver',
                           mct_a='mct_good:Driver')
        self.installed.add('a', mct_m='mct_good:Driver')
        expected = [point.name for point in importlib.metadata.entry_points(
            group='magnum.drivers') if point.name.startswith('mct_')]

        self.assertEqual(expected, [
            offer.name for offer in catalog.load(model.Policy()).offers
            if offer.name.startswith('mct_')])
        self.assertEqual({'mct_z', 'mct_a', 'mct_m'}, set(expected))

    def test_a_disabled_driver_is_not_loaded(self):
        self.installed.module('mct_off', 'raise ImportError')
        self.installed.add('off', mct_off='mct_off:Driver')
        offers = self.offers(disabled_drivers=frozenset({'mct_off'}))

        self.assertEqual(model.Offer('mct_off', origin='off 1.0'),
                         offers['mct_off'])
        self.assertNotIn('mct_off', sys.modules)
        self.assertEqual([], self.warnings('mct_off'))


class BrokenTest(InstalledTestCase):

    def check(self, cases):
        for module, error in cases:
            self.start_again()
            self.assertThat(self.fail(module),
                            testtools.matchers.StartsWith(error))

    def test_at_import(self):
        self.check((
            ('import mct_nowhere',
             "import: ModuleNotFoundError: No module named 'mct_nowhere'"),
            ('x = 1', "import: AttributeError: module 'mct_bad' has no "
             "attribute 'Driver'"),
            ('raise ValueError', 'import: ValueError'),
            ('raise SystemExit(3)', 'import: SystemExit: 3'),
            ('raise GeneratorExit', 'import: GeneratorExit'),
            ('class E(BaseException): pass\nraise E("x")', 'import: E: x'),
            ('x =', 'import: SyntaxError: invalid syntax'),
            # Whatever the message is: it may run code of the driver.
            (r"raise ImportError('a\r\nERROR forged\x1b[2J\u202ex')",
             r'import: ImportError: a ERROR forged\x1b[2J\u202ex'),
            ("""
                class E(Exception):
                    def __str__(self):
                        raise RuntimeError
                raise E
             """, 'import: E: its message cannot be shown')))

    def test_at_construction(self):
        self.check((
            (self.driver('def __init__(self): '
                         'raise OSError(2, "no kubeconfig")'),
             'construct: FileNotFoundError: [Errno 2] no kubeconfig'),
            (self.driver('def __init__(self): raise SystemExit(3)'),
             'construct: SystemExit: 3'),
            ("""
                import abc
                class Driver(abc.ABC):
                    @abc.abstractmethod
                    def create_cluster(self): pass
             """, "construct: TypeError: Can't instantiate abstract class")))

    def driver(self, line):
        return f'class Driver:\n    {line}\n'

    def test_provides(self):
        kind = "'server_type': 'vm', 'os': 'ubuntu'"
        self.check((self.driver(
            f'beta = False\n    @property\n    def provides(self): {code}'),
            f'provides: {error}') for code, error in (
                ('raise KeyError("x")', "KeyError: 'x'"),
                ('raise SystemExit("bye")', 'SystemExit: bye'),
                ('return None', "TypeError: 'NoneType' object is not it"),
                ('return 5', "TypeError: 'int' object is not iterable"),
                ('return []', 'no cluster types'),
                ('return "vm"', 'TypeError: string indices must be integers'),
                ('return [("vm", "ubuntu", "kubernetes")]',
                 'TypeError: tuple indices must be integers or slices'),
                (f'return [{{{kind}}}]', "KeyError: 'coe'"),
                (f'return [{{{kind}, "coe": None}}]', "coe is 'None'"),
                (f'return [{{{kind}, "coe": " "}}]',
                 r"coe is '\x27 \x27'"),
                (f'return [{{{kind}, "coe": ["x"]}}]',
                 r"coe is '[\x27x\x27]'"),
                (f'return [{{{kind}, "coe": "k"}}, {{}}]',
                 "KeyError: 'server_type'"),
                (f'\n        while True: yield {{{kind}, "coe": "k"}}',
                 'more than 1000 cluster types'),
                (f'yield {{{kind}, "coe": "k"}}; raise OSError("late")',
                 'OSError: late')))

    def test_beta(self):
        self.check((
            (distributions.DRIVER.replace('beta', 'alpha'),
             "beta: AttributeError: type object 'Driver' has no attribute"),
            (self.driver('beta = False'),
             "provides: AttributeError: 'Driver' object has no attribute"),
            ("""
                class Meta(type):
                    @property
                    def beta(self):
                        raise ValueError('no')
                class Driver(metaclass=Meta):
                    provides = [
                        {'server_type': 'v', 'os': 'o', 'coe': 'c'}]
             """, 'beta: ValueError: no')))

    def test_an_interruption_by_the_user_is_not_a_fault_of_a_driver(self):
        self.installed.module('mct_bad', 'raise KeyboardInterrupt')
        self.installed.add('bad', mct_bad='mct_bad:Driver')
        self.assertRaises(KeyboardInterrupt, self.offers)

    def test_a_warning_of_one_short_line_and_no_error(self):
        self.assertEqual(
            "import: ImportError: " + 'x' * 200 + '...',
            self.fail("raise ImportError('x' * 9999)"))
        [line] = self.warnings('mct_bad')
        self.assertTrue(line.startswith(
            "WARNING The driver 'mct_bad' cannot be loaded: import: Imp"))
        self.assertNotIn('ERROR', self.log.output)


class TwiceTest(InstalledTestCase):

    def test_one_name_of_two_distributions(self):
        self.installed.module('mct_good')
        self.installed.module('mct_other')
        # Whatever comes first.
        for name, one, two in (('mct_x', 'good', 'other'),
                               ('mct_y', 'other', 'good')):
            self.installed.add(f'{name}_one', '1.0',
                               **{name: f'mct_{one}:Driver'})
            self.installed.add(f'{name}_two', '2.0',
                               **{name: f'mct_{two}:Driver'})

        for name in ('mct_x', 'mct_y'):
            offer = self.offers()[name]
            self.assertEqual((), offer.types)
            self.assertIn(offer.error, (
                f'registered more than once, by {name}_one 1.0 and '
                f'{name}_two 2.0', f'registered more than once, by '
                f'{name}_two 2.0 and {name}_one 1.0'))

    def test_the_same_driver_twice_is_one_as_for_stevedore(self):
        self.installed.module('mct_good')
        self.installed.add('one', mct_x='mct_good:Driver')
        self.installed.add('two', mct_x='mct_good:Driver')

        self.assertIsNone(self.offers()['mct_x'].error)

    def test_a_disabled_name_of_two_distributions(self):
        self.installed.add('one', mct_x='a:B')
        self.installed.add('two', mct_x='c:D')
        offers = self.offers(disabled_drivers=frozenset({'mct_x'}))

        self.assertIsNone(offers['mct_x'].error)


class InstalledTest(InstalledTestCase):

    def test_a_distribution_with_a_bad_file_blocks_nobody(self):
        self.installed.module('mct_good')
        self.installed.add('good', mct_good='mct_good:Driver')
        self.installed.add_raw('poison', '1', '[magnum.drivers]\nno entry\n')

        self.assertEqual((UBUNTU,), self.offers()['mct_good'].types)
        self.assertThat(self.warnings("'poison'"),
                        testtools.matchers.HasLength(1))

    def test_beside_a_bad_file_all_is_seen_as_without(self):
        # A distribution that another one hides, and other groups.
        self.installed.module('mct_good')
        self.installed.add('twice', '1', mct_old='mct_good:Driver')
        newer = self.useFixture(distributions.Distributions())
        newer.add_raw('twice', '2', '[magnum.drivers]\n'
                      'mct_new = mct_good:Driver\n'
                      '[console_scripts]\nmct_tool = mct_good:Driver\n')
        before = [(p.name, p.value) for p in catalog.installed()]
        self.installed.add_raw('poison', '1', '[magnum.drivers]\nno entry\n')
        importlib.invalidate_caches()

        self.assertEqual(before, [
            (p.name, p.value) for p in catalog.installed()])
        self.assertIn(('mct_new', 'mct_good:Driver'), before)
        self.assertThat(self.warnings("'poison'"),
                        testtools.matchers.HasLength(1))

    def test_an_entry_point_of_no_distribution(self):
        point = importlib.metadata.EntryPoint('mct_x', 'nowhere:X',
                                              'magnum.drivers')

        offer, = catalog.load(model.Policy(), lambda: [point]).offers

        self.assertEqual('an unknown distribution', offer.origin)
        self.assertIn('import: ModuleNotFoundError', offer.error)


class ConfigurationTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable('HOME', str(self.base)))
        for name in list(os.environ):
            if name.startswith('OS_DRIVERS__'):
                self.useFixture(fixtures.EnvironmentVariable(name))

    def write(self, name, text):
        """The path of a file with [drivers]."""
        path = self.base / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'[drivers]\n{text}\n')
        return str(path)

    def read(self, files=(), folders=()):
        conf = cfg.ConfigOpts()
        self.sources = catalog.configure(files, folders, conf)
        return catalog.policy(conf)


class PolicyTest(ConfigurationTestCase):

    def test_values(self):
        for text, policy in (
                ('', model.Policy()),
                ('default_driver = a\ndisabled_drivers = b,c\n'
                 'enabled_beta_drivers=d',
                 model.Policy('a', frozenset('bc'), frozenset('d'))),
                # Blanks around a name do not count, nor does a blank name.
                ('default_driver =  a \ndisabled_drivers = b , ,\n   c,\n'
                 'enabled_beta_drivers = ',
                 model.Policy('a', frozenset('bc'))),
                ('default_driver =', model.Policy()),
                ('[k8s_discovery]\nmode = hibiscus',
                 model.Policy(mode=model.Mode.HIBISCUS)),
                ('verify_ca = perhaps\n[api]\nx = $y', model.Policy())):
            self.assertEqual(policy, self.read(
                [self.write('magnum.conf', text)]), text)

    def test_values_that_cannot_be_used(self):
        for text, said in (
                ('[k8s_discovery]\nmode = lenient',
                 'Value for option mode is not valid: Valid values are '
                 "[strict, hibiscus], but found 'lenient'"),
                ('disabled_drivers = $nowhere', 'nowhere')):
            path = self.write('of a long name' * 10, text)
            e = self.assertRaises(errors.UsageError, self.read, [path])
            self.assertEqual(path, e.where)
            self.assertIn(said, str(e))

    def test_which_files_win(self):
        one = self.write('1', 'default_driver = a\ndisabled_drivers = x')
        two = self.write('-- 2 b', 'default_driver = b')
        self.write('d/20.conf', 'default_driver = c')
        self.write('d/10.conf', 'default_driver = d')
        self.write('d/30.txt', 'default_driver = e')
        folder = str(self.base / 'd')
        for files, folders, read, default in (
                ([one, two], [], (one, two), 'b'),
                ([two, one], [], (two, one), 'a'),
                ([one, '~/-- 2 b'], [], (one, two), 'b'),
                ([one], [folder], (one, folder), 'c')):
            self.assertEqual(model.Policy(default, frozenset('x')),
                             self.read(files, folders))
            self.assertEqual(read, self.sources)

    def test_the_environment_wins(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'OS_DRIVERS__DEFAULT_DRIVER', 'b'))
        path = self.write('magnum.conf', 'default_driver = a')
        self.assertEqual('b', self.read([path]).default_driver)

    def test_options_that_magnum_has_registered(self):
        conf = cfg.ConfigOpts()
        conf.register_opt(cfg.StrOpt('default_driver', help='Magnum says'),
                          'drivers')
        conf([], default_config_files=[], default_config_dirs=[])
        conf.set_override('default_driver', 'a', 'drivers')
        self.assertEqual(model.Policy('a'), catalog.policy(conf))


class FoundTest(ConfigurationTestCase):
    """The files that Magnum's API finds itself."""

    def setUp(self):
        super().setUp()
        self.found = (
            self.write('.magnum/magnum.conf', 'default_driver = a'),
            self.write('.magnum/magnum-api.conf', 'default_driver = b'),
            str(self.base / '.magnum/magnum.conf.d'))
        self.write('.magnum/magnum.conf.d/x.conf', 'disabled_drivers = c')

    def test_if_none_is_given(self):
        self.assertEqual(model.Policy('b', frozenset('c')), self.read())
        self.assertEqual(self.found, self.sources)

    def test_not_if_one_is_given(self):
        mine = self.write('mine/x.conf', 'enabled_beta_drivers = d')
        for given in (([mine],), ([], [str(self.base / 'mine')])):
            self.assertEqual(model.Policy(
                enabled_beta_drivers=frozenset('d')), self.read(*given))


class FaultsTest(ConfigurationTestCase):

    def problem(self, *sources):
        e = self.assertRaises(errors.UsageError, self.read, *sources)
        self.assertEqual(1, len(str(e).splitlines()))
        return e

    def test_files_that_cannot_be_parsed(self):
        for content, said in (
                (b'[drivers]\nno option', 'line 2: No \':\' or \'='),
                (b'default_driver = a', 'line 1: Section must be started'),
                (b'[drivers]\ndefault_driver = \xff\xfe\x81',
                 'UnicodeDecodeError')):
            path = self.base / 'magnum.conf'
            path.write_bytes(content)
            e = self.problem([str(path)])
            self.assertEqual(str(path), e.where)
            self.assertIn(said, str(e))

    def test_what_is_in_the_file_is_not_reported(self):
        path = self.write('m', '[database]\nconnection = x\nsecret')
        e = self.problem([path])
        self.assertIn('line 4', str(e))
        self.assertNotIn('secret', str(e))

    def test_what_is_not_there(self):
        good, missing = self.write('m', ''), str(self.base / 'no')
        (self.base / 'd/x.conf').mkdir(parents=True)
        for files, folders, where in (
                ([good, missing], [], missing),
                ([good], [missing], missing),
                ([str(self.base)], [], str(self.base)),
                ([], [str(self.base / 'd')], f'{self.base}/d/x.conf')):
            self.assertEqual(where, self.problem(files, folders).where)
