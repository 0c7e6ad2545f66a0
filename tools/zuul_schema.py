# SPDX-License-Identifier: Apache-2.0

"""Checks zuul.d with the schemas of Zuul's own scheduler.

Run by ``tox -e zuul-lint``, which has Zuul; no server is needed. The schemas
define the attributes and their types, and Zuul's own model limits the duration
of jobs; names are checked in tests/unit/zuul.
"""

import pathlib
import sys

import voluptuous
import yaml
from zuul import configloader
from zuul import model

TOP = pathlib.Path(__file__).resolve().parents[1]


def schemas():
    """A callable that raises voluptuous.Invalid, by kind of item."""
    context = None
    return {
        'job': configloader.JobParser.schema,
        'nodeset': configloader.NodeSetParser(context).schema,
        'project': configloader.ProjectParser(context).schema,
    }


def too_long(job):
    """Complaints about timeouts above Zuul's default maximum of a tenant.

    OpenDev's tenants use that default: "Max Timeout Exceeded".
    """
    limit = model.Tenant('openstack').max_job_timeout
    for name in ('pre-timeout', 'timeout', 'post-timeout'):
        if job.get(name, 0) > limit:
            yield f'{name} {job[name]} is over {limit}'


def check(folder):
    """Return (number of items, complaints)."""
    known = schemas()
    number, complaints = 0, []
    for path in sorted(folder.glob('*.yaml')):
        for item in yaml.safe_load(path.read_text()):
            (kind, body), = item.items()
            number += 1
            name = f'{path.name}: {kind} {body.get("name", "")}'
            try:
                known[kind](body)
            except KeyError:
                complaints.append(f'{name}: not a kind that is used here')
            except voluptuous.Invalid as e:
                complaints.append(f'{name}: {e}')
            if kind == 'job':
                complaints += [f'{name}: {text}' for text in too_long(body)]
    return number, complaints


def main():
    number, complaints = check(
        pathlib.Path(sys.argv[1]) if sys.argv[1:] else TOP / 'zuul.d')
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f'{number} items, {len(complaints)} complaints')
    return 1 if complaints or not number else 0


if __name__ == '__main__':
    sys.exit(main())
