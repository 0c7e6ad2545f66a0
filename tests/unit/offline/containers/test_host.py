# SPDX-License-Identifier: Apache-2.0

import dataclasses

import testtools

from tools.offline.containers import host

#: As a machine of a CI with control groups of version 1 has it.
HYBRID = '''\
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,relatime,cpuset 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
'''
UNIFIED = 'cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n'

GOOD = host.Facts(
    platform='linux', user=0, capabilities=(1 << 41) - 1,
    programs=dict.fromkeys(host.PROGRAMS, '/usr/bin/x'),
    controllers=frozenset(host.CONTROLLERS), writable=True)


def nothing(path):
    return ''


class VerdictTest(testtools.TestCase):

    def verdict(self, **changes):
        return host.verdict(dataclasses.replace(GOOD, **changes))

    def test_nothing_is_in_the_way(self):
        self.assertIsNone(self.verdict())

    def test_without_cap_sys_resource(self):
        self.assertIsNone(self.verdict(
            capabilities=GOOD.capabilities & ~(1 << 24)))

    def test_missing_programs_name_their_packages(self):
        said = self.verdict(programs={
            **GOOD.programs, 'dockerd': None, 'unshare': None})
        self.assertEqual('dockerd, unshare cannot be found; on Debian '
                         'install docker.io util-linux', said)

    def test_every_other_reason_is_one_line(self):
        for changes, word in (
                ({'platform': 'darwin'}, 'darwin'),
                ({'user': 1000}, 'root'),
                ({'capabilities': 0}, 'CAP_NET_ADMIN and CAP_SYS_ADMIN'),
                ({'controllers': frozenset({'cpu', 'memory'})},
                 'cpuset, pids'),
                ({'writable': False}, 'read-only'),
                ({'trial': 'Operation not permitted'}, 'not permitted')):
            said = self.verdict(**changes)
            self.assertIn(word, said)
            self.assertNotIn('\n', said)


class ControlGroupsTest(testtools.TestCase):

    def test_version_1(self):
        found = host.controllers(HYBRID, nothing)
        self.assertTrue(found.issuperset(host.CONTROLLERS))

    def test_version_2(self):
        files = {'/sys/fs/cgroup/cgroup.controllers':
                 'cpuset cpu io memory pids\n'}
        found = host.controllers(UNIFIED, files.__getitem__)
        self.assertEqual(
            {'cpuset', 'cpu', 'io', 'memory', 'pids'}, found)

    def test_none(self):
        self.assertEqual(set(), host.controllers('', nothing))
        self.assertFalse(host.writable(''))

    def test_read_only(self):
        self.assertTrue(host.writable(HYBRID))
        self.assertFalse(host.writable(HYBRID.replace(
            'cgroup rw,relatime,pids', 'cgroup ro,relatime,pids')))
