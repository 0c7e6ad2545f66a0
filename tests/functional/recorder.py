# SPDX-License-Identifier: Apache-2.0


"""Progress that is printed and that a test can read afterwards."""

from magnum_capi import progress


class Recorder(progress.Progress):
    """``lines``: all messages."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def info(self, text):
        self.lines.append(text)
        super().info(text)
