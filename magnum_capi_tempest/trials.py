# SPDX-License-Identifier: Apache-2.0


"""Options of ``[magnum_capi]`` for what runs inside clusters.

They are separate from :mod:`magnum_capi_tempest.config` because only these
need nodes that run pods.
"""

from oslo_config import cfg

OPTS = [
    cfg.StrOpt(
        'conformance_mode', default='',
        choices=['', 'quick', 'non-disruptive-conformance',
                 'certified-conformance', 'focus'],
        help='Which conformance tests Sonobuoy runs in a new cluster: quick '
             'is one test and takes a minute, focus runs the tests that match '
             'conformance_focus, the others take hours. Requires nodes that '
             'run pods, and the Python package kubernetes. When empty, '
             'conformance is not tested: the nodes of an in-memory sandbox '
             'run no pods.'),
    cfg.StrOpt(
        'conformance_focus', default='',
        help='Go regular expression of the tests to run, in the mode focus '
             'only. "\\[Conformance\\]" matches the tests that certification '
             'requires.'),
    cfg.StrOpt(
        'conformance_skip', default='',
        help='Go regular expression of the tests to skip. A certified run '
             'must skip none.'),
    cfg.IntOpt(
        'conformance_parallel', default=1, min=1,
        help='Number of tests to run in parallel. More than one needs '
             'conformance_skip to leave out tests marked [Serial]; a '
             'certified run is serial.'),
    cfg.IntOpt(
        'conformance_timeout', default=0, min=0,
        help='Seconds that a run may take. When 0, it depends on the mode: '
             'half an hour for quick, hours for the others.'),
    cfg.StrOpt(
        'conformance_images', default='', choices=['', 'registry', 'stand-in'],
        help='Origin of the images of nodes and tests. Use "stand-in" for '
             'images that were built in place of the upstream ones; every '
             'report then says so, and cannot be used for certification.'),
    cfg.StrOpt(
        'conformance_results', default='',
        help='Folder, on the machine that runs Tempest, for the archive and '
             'the report of the conformance tests. When empty, they are not '
             'kept. An archive contains logs and objects of the cluster; '
             'review it before you publish it.'),
    cfg.StrOpt(
        'workload_image',
        default='registry.k8s.io/e2e-test-images/agnhost:2.56',
        help='Image of the workload that serves traffic between nodes while '
             'its cluster is changed: agnhost of Kubernetes, or another image '
             'with "agnhost netexec", a shell and curl. It must be present on '
             'nodes that cannot pull it.'),
    cfg.IntOpt(
        'workload_gap', default=30, min=1,
        help='Seconds for which a workload with two replicas and a disruption '
             'budget may be unavailable while Kubernetes is upgraded.'),
]
