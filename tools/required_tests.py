# SPDX-License-Identifier: Apache-2.0

"""The tests that certify a cluster: lists of names, one a Kubernetes minor.

    python tools/required_tests.py [--check] [MINOR ...]

Writes ``magnum_capi_tempest/conformance/data/required-v1.NN.txt`` from
``test/conformance/testdata/conformance.yaml`` of the Go module
k8s.io/kubernetes, which is what cncf's verify-conformance bot compares with.
With ``--check`` nothing is written; exit code 1 says that a file differs.

The modules are pinned here, not in pins.toml: nothing that is installed
needs them. A module is 30 MB to download.
"""

import argparse
import json
import pathlib
import sys

import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.conformance.record import suite_names
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins

MODULE = 'k8s.io/kubernetes'
SOURCE = 'test/conformance/testdata/conformance.yaml'
#: Compared with sum.golang.org when they were pinned. Patch releases do not
#: change the list: v1.33.5 and v1.33.12, and v1.36.0 to v1.36.3, have the
#: same file.
MODULES = {
    'v1.33': pins.Module(
        MODULE, 'v1.33.12',
        'h1:bqFazQg2Lpj6YJH9sVxsi3XzvKLL8/2+yd4AslyRLLQ='),
    'v1.34': pins.Module(
        MODULE, 'v1.34.9',
        'h1:qj8W8mftZkTEBMdNjGBp+pKGbvpewrnCiuDp2l4DxtU='),
    'v1.35': pins.Module(
        MODULE, 'v1.35.0',
        'h1:PUOojD8c8E3csMP5NX+nLLne6SGqZjrYCscptyBfWMY='),
    'v1.36': pins.Module(
        MODULE, 'v1.36.3',
        'h1:qDQdoMiluAE2Eab6Fa52YV+WjiGz9mZFFoagEA6cI+o='),
}


def source(module):
    """The conformance list of a pinned module."""
    program = go.find_go()
    # The pinned hash is the check, see check_module().
    env = {**go.environment(program), 'GONOSUMDB': MODULE}
    found = processes.run(
        [program, 'mod', 'download', '-json',
         f'{module.path}@{module.version}'], timeout=900, cwd='/', env=env,
        hint=go.NETWORK)
    return go.check_module(module, json.loads(found)) / SOURCE


def text(module, document):
    """What the file of a minor has to hold."""
    names = [suite_names.spec(entry['codename'])
             for entry in yaml.safe_load(document)]
    if len(set(names)) != len(names):
        raise errors.EnvironmentProblem(
            'A test is in the list twice', where=module.version)
    return '\n'.join([f'# {module.path}@{module.version} {SOURCE}',
                      f'# {module.h1}', *sorted(names)]) + '\n'


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split('\n', 1)[0])
    parser.add_argument('minors', nargs='*', metavar='MINOR',
                        help=f'One of {", ".join(MODULES)}; all by default.')
    parser.add_argument('--check', action='store_true')
    args = parser.parse_args()
    different = 0
    for minor in args.minors or MODULES:
        module = MODULES[minor]
        wanted = text(module, source(module).read_text())
        path = pathlib.Path(required.path(minor))
        if args.check:
            same = path.exists() and path.read_text() == wanted
            different += not same
            print(f'{minor}: {"same" if same else "DIFFERS"}')
        else:
            path.write_text(wanted)
            print(f'{minor}: {wanted.count(chr(10)) - 2} tests')
    return 1 if different else 0


if __name__ == '__main__':
    sys.exit(main())
