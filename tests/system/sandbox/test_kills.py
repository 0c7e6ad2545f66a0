# SPDX-License-Identifier: Apache-2.0

"""kill -9 of a sandbox's programs and of the command that starts them.

``MAGNUM_CAPI_SEED`` repeats the moments of a run, which it prints.
"""

import contextlib
import os
import pathlib
import random
import subprocess
import time

from tests.functional import boxes

#: Number of moments of one run.
MOMENTS = 10

#: Settings of the kernel that containers and networks change.
_SETTINGS = ('net/ipv4', 'net/ipv6', 'net/bridge', 'fs/inotify', 'kernel/keys',
             'user')


def host() -> dict[str, str]:
    """What every program of the host shares: settings, networks, mounts."""
    found = {}
    for folder in _SETTINGS:
        for path in pathlib.Path('/proc/sys', folder).rglob('*'):
            if path.is_file() and os.access(path, os.R_OK):
                try:
                    found[str(path)] = path.read_text()
                except OSError as e:
                    # Some can be read in some states of the network only.
                    found[str(path)] = str(e.errno)
    found['interfaces'] = ' '.join(sorted(os.listdir('/sys/class/net')))
    found['namespaces'] = ' '.join(sorted(
        path.name for path in pathlib.Path('/run').glob('netns/*')))
    with open('/proc/self/mountinfo') as f:
        found['mounts'] = ''.join(sorted(
            line.split(' ', 1)[1] for line in f))
    return found


@boxes.LONG
class KilledTest(boxes.TestCase):

    def setUp(self):
        super().setUp()
        self.host = host()

    def assert_gone(self, box):
        """Assert that ``down`` leaves nothing, and the host as it was."""
        self.assert_done(box.down())
        self.assert_nothing_left(box)
        self.assertEqual({}, {
            key: (self.host.get(key), value) for key, value in host().items()
            if self.host.get(key) != value})

    def test_up_at_any_moment(self):
        seed = int(os.environ.get('MAGNUM_CAPI_SEED')
                   or random.randrange(10**6))
        box = self.box()
        begin = time.monotonic()
        self.assert_done(box.up())
        whole = time.monotonic() - begin
        self.assert_gone(box)

        chosen = random.Random(seed)
        for _ in range(MOMENTS):
            moment = chosen.uniform(0, whole)
            print(f'seed {seed}: killed after {moment:.2f} of {whole:.1f} s')
            with self.subTest(f'{moment:.2f} s, seed {seed}'), \
                    box.start('up', '--port-base',
                              str(box.port_base)) as process:
                self.addCleanup(process.kill)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.communicate(timeout=moment)
                process.kill()
                process.communicate(timeout=60)
                self.assert_gone(box)

    def test_each_program(self):
        box = self.box()
        self.assert_done(box.up())
        programs = sorted(box.pids())
        for name in programs:
            with self.subTest(name):
                self.assert_done(box.up())
                box.kill(name)
                self.assert_gone(box)
