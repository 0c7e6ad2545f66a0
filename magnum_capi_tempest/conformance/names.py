# SPDX-License-Identifier: Apache-2.0

"""Interprets the name of a test case: is it a spec, and which one?

Ginkgo v2 puts the kind of node in front: ``[It] [sig-apps] ...`` is a spec,
``[ReportAfterSuite] Kubernetes e2e suite report`` is machinery, and Sonobuoy
counts both. Kubernetes before 1.25 used Ginkgo v1, whose names have no such
word.
"""

import re

#: Types of Ginkgo's nodes that run once per suite
#: (onsi/ginkgo, types/types.go).
_SUITE = re.compile(
    r'\[(BeforeSuite|AfterSuite|SynchronizedBeforeSuite|'
    r'SynchronizedAfterSuite|ReportBeforeSuite|ReportAfterSuite|'
    r'DeferCleanup \(Suite\))\]')
#: Those without which no spec can begin.
_SETUP = re.compile(r'\[(Synchronized)?BeforeSuite\]')


def suite_node(name: str) -> bool:
    """Is it machinery of Ginkgo?

    :param name: of the test case, as in the JUnit file.
    """
    return bool(_SUITE.match(name))


def setup_node(name: str) -> bool:
    """Is it the machinery that checks the cluster before any spec?"""
    return bool(_SETUP.match(name))


def spec(name: str) -> str:
    """Name of a spec as in the conformance list: the codename.

    Single blanks between words, none around; without ``[It]``.
    """
    if name.startswith('[It]'):
        name = name[4:]
    if name.isprintable() and '  ' not in name:
        # A blank is the only printable white space.
        return name.strip()
    return ' '.join(name.split())
