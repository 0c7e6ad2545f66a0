# SPDX-License-Identifier: Apache-2.0


"""Options of ``[magnum_capi]`` on what is run inside clusters.

They are apart from the others in :mod:`magnum_capi_tempest.config` because
only they need nodes that run pods.
"""

from oslo_config import cfg

OPTS = [
    cfg.StrOpt(
        'conformance_mode', default='',
        choices=['', 'quick', 'non-disruptive-conformance',
                 'certified-conformance', 'focus'],
        help='Which conformance tests Sonobuoy runs in a new cluster: quick '
             'is one test and takes a minute, focus is what '
             'conformance_focus matches, the others take hours. Needs '
             'nodes that run pods, and the Python package kubernetes. When '
             'empty, conformance is not tested: the nodes of an in-memory '
             'sandbox run no pods.'),
    cfg.StrOpt(
        'conformance_focus', default='',
        help='Regular expression (Go\'s) of the tests to run, with the mode '
             r'focus only. "\[Conformance\]" are those that certify.'),
    cfg.StrOpt(
        'conformance_skip', default='',
        help='Regular expression of tests not to run. A certified run takes '
             'none.'),
    cfg.IntOpt(
        'conformance_parallel', default=1, min=1,
        help='How many tests run at a time. More than one needs '
             'conformance_skip to leave out tests marked [Serial]; a '
             'certified run is serial.'),
    cfg.IntOpt(
        'conformance_timeout', default=0, min=0,
        help='How many seconds a run may take. When 0, it depends on the '
             'mode: half an hour for quick, hours for the others.'),
    cfg.StrOpt(
        'conformance_images', default='', choices=['', 'registry', 'stand-in'],
        help='Where images of nodes and tests come from. Say "stand-in" '
             'where they were built to '
             'stand in for upstream\'s. Every report says so then, and none '
             'of them certifies anything.'),
    cfg.StrOpt(
        'conformance_results', default='',
        help='Folder, on the machine that runs Tempest, for the archive and '
             'the report of the conformance tests. When empty, they are not '
             'kept. An archive holds logs and objects of the cluster: look '
             'at it before it is published.'),
    cfg.StrOpt(
        'workload_image',
        default='registry.k8s.io/e2e-test-images/agnhost:2.56',
        help='Image of the workload that serves traffic between nodes while '
             'its cluster is changed: agnhost of Kubernetes, or what has its '
             '"agnhost netexec", a shell and curl. Nodes that cannot pull '
             'it must have it.'),
    cfg.IntOpt(
        'workload_gap', default=30, min=1,
        help='How many seconds a workload with two replicas and a '
             'disruption budget may give no answer while Kubernetes is '
             'upgraded.'),
]
