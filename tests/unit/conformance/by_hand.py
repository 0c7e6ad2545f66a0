# SPDX-License-Identifier: Apache-2.0
"""Results made by hand, and the real ones that the tests share."""

import functools
import pathlib

from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import verdict

ARCHIVES = pathlib.Path(__file__).parents[2] / 'data' / 'sonobuoy'
PARALLEL = ARCHIVES / 'conformance-parallel-v1.34.9.tar.gz'
RERUN = ARCHIVES / 'rerun-failed-v1.34.9.tar.gz'
#: Of a cluster that Magnum made, by tools/run_conformance.sh --mode focus.
MAGNUM = ARCHIVES / 'magnum-parallel-v1.33.13.tar.gz'
QUICK = ARCHIVES / 'quick-e2e-v1.34.9.tar.gz'
#: Of a plugin of somebody's own; no test of the suite ran.
PLUGIN = ARCHIVES / 'hello-plugin.tar.gz'


# Tests of commands replace it by this cache.
_read = archive.read


@functools.cache
def real(path):
    """Result of a real archive."""
    return _read(path)


def folder(path):
    """Write the two files of a run in which one spec passed; a folder."""
    path.mkdir()
    (path / 'junit_01.xml').write_text(
        '<testsuites><testsuite name="Kubernetes e2e suite">'
        '<testcase name="[It] [sig-a] b" status="passed" time="1.5"/>'
        '</testsuite></testsuites>')
    (path / 'e2e.log').write_text(
        'Will run 1 of 2 specs\n\nRan 1 of 2 Specs in 1.500 seconds\n'
        'SUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 1 Skipped\n')
    return path


def view(result, reruns=(), required=None):
    """The view of a result."""
    return report.view(verdict.judge(result, required), reruns)


def passed(name, seconds=1.0, **kwargs):
    return model.Spec(name, model.PASSED, seconds=seconds, **kwargs)


def failed(name, failure='', seconds=1.0, **kwargs):
    return model.Spec(name, model.FAILED, seconds=seconds, failure=failure,
                      **kwargs)


def skipped(name, **kwargs):
    return model.Spec(name, model.SKIPPED, **kwargs)


def unfinished(name, **kwargs):
    return model.Spec(name, model.UNFINISHED, **kwargs)


def result(*specs, planned=-1, finished=True, **kwargs):
    """A result of a suite that ended by itself.

    :param planned: as many specs as ran by default; None without a log.
    :param finished: the log has its last lines.
    """
    ran = sum(spec.ran for spec in specs)
    log = None if planned is None else model.Log(
        planned=ran if planned < 0 else planned,
        ran=ran if finished else None)
    return model.Result(**{'title': 'run', 'source': 'run.tar.gz',
                           'specs': specs, 'log': log} | kwargs)
