# SPDX-License-Identifier: Apache-2.0


"""Progress that a test can read afterwards, and a person meanwhile."""

from magnum_capi import progress


class Recorder(progress.Progress):
    """``lines``: all that was told."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def info(self, text):
        self.lines.append(text)
        super().info(text)
