# SPDX-License-Identifier: Apache-2.0

"""Run every role that needs no devstack against a sandbox, again and again.

The second run must change nothing; after a fault the next run repairs it,
and changes only that. Then the commands that the page for owners of Zuul jobs
begins with are run, the playbooks of the sandbox jobs among them.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from magnum_capi import redact
from tests.functional import typed
from tests.unit.docs import pages

TOP = pathlib.Path(__file__).resolve().parents[2]

#: As in Zuul, whose command module has one stream for both.
PROGRAM = '''\
#!/bin/sh
exec {program} "$@" 2>&1
'''

#: A paste file as that of Magnum 23, as far as the filter is concerned.
PASTE = '''\
[pipeline:api]
pipeline = request_id authtoken api_v1

[app:api_v1]
paste.app_factory = magnum.api.app:app_factory

[filter:authtoken]
paste.filter_factory = magnum.api.middleware.auth_token:filter_factory
'''

_RECAP = re.compile(r'^localhost\s*:.*\bchanged=(\d+).*\bfailed=(\d+)', re.M)


class Bench:
    """Ansible on this machine, with a folder for all that is written."""

    def __init__(self, work, arguments):
        self.work, self.arguments = work, arguments
        self.box = work / 'box'
        (work / 'api-paste.ini').write_text(PASTE)
        self.program = work / 'magnum-capi'
        self.program.write_text(PROGRAM.format(
            program=shlex.quote(shutil.which('magnum-capi'))))
        self.program.chmod(0o755)

    def play(self, *more):
        """Run all roles; returns (number of changes, output)."""
        done = subprocess.run(
            ['ansible-playbook', '-i', 'localhost,', *more,
             '-e', json.dumps({
                 'roles_work': str(self.work), 'roles_box': str(self.box),
                 'roles_command': str(self.program),
                 'roles_port_base': self.arguments.port_base,
                 'roles_regex': self.arguments.regex}),
             str(TOP / 'tests/roles/site.yaml')],
            env={**os.environ, 'ANSIBLE_ROLES_PATH': str(TOP / 'roles'),
                 'ANSIBLE_NOCOLOR': '1'},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=3600)
        recap = _RECAP.search(done.stdout)
        if done.returncode or not recap or recap[2] != '0':
            sys.exit(f'{done.stdout}\nAnsible failed: {done.returncode}')
        return int(recap[1]), done.stdout

    def programs(self):
        """Process ids by name."""
        done = subprocess.run(
            ['magnum-capi', 'sandbox', 'status', '-f', 'json',
             '--directory', str(self.box)],
            stdout=subprocess.PIPE, text=True, timeout=120)
        return {row['Program']: row['PID'] for row in json.loads(done.stdout)}

    def down(self):
        if self.box.exists():
            subprocess.run(['magnum-capi', 'sandbox', 'down', '--directory',
                            str(self.box)], timeout=300, check=True)


def story(bench):
    """Yield (what, whether it is so)."""
    before = sorted(bench.work.iterdir())
    bench.play('--check')
    yield 'check mode wrote nothing', before == sorted(bench.work.iterdir())

    changes, _ = bench.play()
    yield f'the first run changed {changes}', changes > 0
    yield 'the kubeconfig is for its owner only', (
        (bench.work / 'kubeconfig').stat().st_mode & 0o777 == 0o600)
    yield 'Magnum was restarted', (bench.work / 'restarted').exists()
    results = bench.work / 'results'
    yield 'there is a report', (results / 'tempest/report.html').exists()
    kept = [p for p in results.glob('evidence/**/*') if p.is_file()]
    yield f'evidence is in {len(kept)} files', any(
        p.parent.name == 'logs' for p in kept) and any(
        p.name == 'clusters.cluster.x-k8s.io.json' for p in kept)
    yield 'there is no secret in it', not any(
        redact.examine(p.read_text(errors='replace')).counts for p in kept)

    changes, _ = bench.play()
    yield f'the second run changed {changes}', changes == 0

    (bench.work / 'magnum.conf.d/80-magnum-capi.conf').unlink()
    name, process = next((n, p) for n, p in bench.programs().items()
                         if n.startswith('magnum'))
    os.kill(process, signal.SIGKILL)
    changes, _ = bench.play()
    yield (f'with {name} killed and the options gone, a run changed '
           f'{changes}'), changes > 0

    changes, _ = bench.play()
    yield f'the run after that changed {changes}', changes == 0


def page(work):
    """Yield (command, whether it did what the page says)."""
    path, = (p for p in pages.ENTRIES if p.stem == 'zuul-job-owner')
    commands = pages.first(path)
    with typed.Shell(work) as shell:
        seen = shell.type(commands, TOP, timeout=3600)
        shell.run('magnum-capi sandbox down '
                  '--directory ~/magnum-capi-job/magnum-capi-sandbox')
    for one in seen:
        right = one.code == one.command.code and one.command.printed(
            one.output)
        if not right:
            print(one.output)
        yield ' '.join(one.command.text.split('\n')[0].split()), right
    yield 'all commands of the page were run', len(seen) == len(commands)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--port-base', type=int, default=39000)
    parser.add_argument('--regex', default='magnum_capi.*preflight')
    parser.add_argument('--only', choices=('roles', 'page'))
    arguments = parser.parse_args()
    bad = 0

    def tell(found):
        for what, right in found:
            print(f'{"ok" if right else "WRONG":6}{what}', flush=True)
            yield not right

    if arguments.only != 'page':
        with tempfile.TemporaryDirectory(
                prefix='magnum-capi-roles-') as folder:
            bench = Bench(pathlib.Path(folder), arguments)
            try:
                bad += sum(tell(story(bench)))
            finally:
                bench.down()
    if arguments.only != 'roles':
        with tempfile.TemporaryDirectory(
                prefix='magnum-capi-roles-') as folder:
            bad += sum(tell(page(pathlib.Path(folder))))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
