# SPDX-License-Identifier: Apache-2.0

"""The sandbox of the soak: three conductors, one with another clock."""

import pathlib
import threading

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import waiting
from tests.proofs.driver_faults import box as box_module

#: Seconds for which the third conductor's clock is ahead.
AHEAD = 90


def clock(folder) -> dict[str, str]:
    """Variables for a program whose clock is ahead; empty if impossible.

    :param folder: for the library that changes the clock.
    """
    library = folder / 'clock.so'
    try:
        processes.run(
            ['cc', '-shared', '-fPIC', '-O2', f'-DAHEAD={AHEAD}', '-o',
             library, pathlib.Path(__file__).with_name('clock.c')],
            timeout=60)
    except (errors.CommandFailed, errors.EnvironmentProblem):
        return {}
    return {'LD_PRELOAD': str(library)}


class Box(box_module.Box):
    """A driver_faults.Box with three conductors."""

    port_base = 36000
    conductors = (box_module.CONDUCTOR, box_module.SECOND,
                  'magnum-conductor-3')

    def __init__(self):
        super().__init__()
        self._repair = threading.Lock()

    def prepare(self):
        super().prepare()
        self.clock = clock(self.folder)
        self.others_up()

    def others_up(self):
        """Start the conductors that are not the sandbox's own."""
        self.another_conductor(self.conductors[1])
        self.another_conductor(self.conductors[2], self.clock)

    def repair(self):
        """Restart everything that was killed or stopped.

        :raises WaitTimeout: something does not start.
        """
        with self._repair:
            waiting.wait_for(
                self._up, done=lambda error: error is None, timeout=180,
                what='the sandbox to be whole', describe=str)

    def _up(self):
        try:
            self.up()
            self.others_up()
        except errors.MagnumCapiError as e:
            # Services remember for a moment that Keystone was down.
            return e
        return None
