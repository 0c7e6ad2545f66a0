# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for tests that view a page like a person.

It is controlled with the DevTools protocol over a pair of pipes
(``--remote-debugging-pipe``: JSON messages, each ended by a zero byte, on the
file descriptors 3 and 4), so that nothing listens and no library is needed.
"""

import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time
import unittest

import fixtures

from magnum_capi import errors

_NAMES = ('chromium', 'chromium-browser', 'google-chrome')
#: Seconds for one answer.
_PATIENCE = 300

PHONE = 390
DESKTOP = 1280


def needed(test):
    """Skip a test, with a reason, on a machine without Chromium."""
    return unittest.skipUnless(
        _program(), 'There is no Chromium on PATH: nobody has looked at the '
        f'page (tried {", ".join(_NAMES)}; install the package chromium)'
    )(test)


class Browser(fixtures.Fixture):
    """A temporary browser with one tab and its own profile."""

    def _setUp(self):
        home = self.useFixture(fixtures.TempDir()).path
        ours, theirs = [], []
        for mine in (1, 0):
            pipe = os.pipe()
            self.addCleanup(_close, pipe[mine])
            ours.append(pipe[mine])
            # Above 3 and 4, where the browser expects them.
            theirs.append(fcntl.fcntl(
                pipe[1 - mine], fcntl.F_DUPFD_CLOEXEC, 10))
            os.close(pipe[1 - mine])
        self._out, self._in = ours

        def place():
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        with open(os.path.join(home, 'log'), 'wb') as log:
            self._process = subprocess.Popen(
                [_program(), '--headless', '--remote-debugging-pipe',
                 f'--user-data-dir={home}/profile', '--no-first-run',
                 '--disable-gpu', '--disable-dev-shm-usage',
                 # Root cannot have Chromium's own sandbox.
                 *(['--no-sandbox'] if os.geteuid() == 0 else []),
                 'about:blank'],
                env=os.environ | {'HOME': home, 'XDG_CONFIG_HOME': home,
                                  'TMPDIR': home},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=place, pass_fds=(3, 4))
        self.addCleanup(self._stop)
        for fd in theirs:
            os.close(fd)
        self._buffer, self._number, self._session = b'', 0, None
        self.events = []
        target = self.call('Target.createTarget', url='about:blank')
        self._session = self.call(
            'Target.attachToTarget', targetId=target['targetId'],
            flatten=True)['sessionId']
        for domain in ('Page', 'Network', 'Runtime', 'Log'):
            self.call(f'{domain}.enable')

    def open(self, page, *, width, dark=False):
        """Open a file in a window of that width and wait for its load."""
        self.call('Emulation.setDeviceMetricsOverride', width=width,
                  height=844, deviceScaleFactor=1, mobile=width < 600)
        self.call('Emulation.setEmulatedMedia', features=[{
            'name': 'prefers-color-scheme',
            'value': 'dark' if dark else 'light'}])
        self.events.clear()
        self.call('Page.navigate', url=pathlib.Path(page).as_uri())
        self._until(lambda: any(
            event['method'] == 'Page.loadEventFired'
            for event in self.events))

    def evaluate(self, expression):
        """Value of a JavaScript expression in the page."""
        answer = self.call('Runtime.evaluate', expression=expression,
                           returnByValue=True)
        if 'exceptionDetails' in answer:
            raise AssertionError(answer['exceptionDetails'])
        return answer['result'].get('value')

    def type(self, selector, text):
        """Type a text into a field."""
        self.evaluate(f'document.querySelector({json.dumps(selector)})'
                      '.select()')
        self.call('Input.insertText', text=text)

    def seen(self, selector):
        """Texts of the elements that a reader can see."""
        return self.evaluate(
            f'[...document.querySelectorAll({json.dumps(selector)})]'
            '.filter((e) => e.checkVisibility())'
            '.map((e) => e.textContent.trim())')

    def too_wide(self):
        """Elements that extend beyond the window and force scrolling."""
        return self.evaluate(
            'document.documentElement.scrollWidth > innerWidth && '
            '[...document.querySelectorAll("body *")].filter((e) => '
            'e.getBoundingClientRect().right > innerWidth + 1)'
            '.map((e) => e.outerHTML.slice(0, 200))') or []

    def requests(self):
        """Everything that the page requested."""
        return [event['params']['request']['url'] for event in self.events
                if event['method'] == 'Network.requestWillBeSent']

    def complaints(self):
        """Errors of scripts, blocked content, dialogs."""
        return [event for event in self.events if event['method'] in (
            'Runtime.exceptionThrown', 'Log.entryAdded',
            'Page.javascriptDialogOpening')]

    def call(self, method, **parameters):
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {'id': self._number, 'method': method,
                   'params': parameters}
        if self._session:
            message['sessionId'] = self._session
        os.write(self._out, json.dumps(message).encode() + b'\0')
        answers = []
        self._until(lambda: answers, answers)
        if 'error' in answers[0]:
            raise AssertionError(f'{method}: {answers[0]["error"]}')
        return answers[0]['result']

    def _until(self, done, answers=None):
        deadline = time.monotonic() + _PATIENCE
        while not done():
            message, found, rest = self._buffer.partition(b'\0')
            if found:
                self._buffer = rest
                message = json.loads(message)
                if message.get('id') == self._number:
                    if answers is not None:
                        answers.append(message)
                elif 'method' in message:
                    self.events.append(message)
                continue
            ready, _, _ = select.select(
                [self._in], [], [], max(0, deadline - time.monotonic()))
            data = os.read(self._in, 1 << 20) if ready else b''
            if not data:
                raise errors.WaitTimeout(
                    'Chromium did not answer', elapsed=_PATIENCE,
                    last_seen=f'exit code {self._process.poll()}')
            self._buffer += data

    def _stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _program():
    return next(filter(None, map(shutil.which, _NAMES)), None)


def _close(fd):
    with contextlib.suppress(OSError):
        os.close(fd)
