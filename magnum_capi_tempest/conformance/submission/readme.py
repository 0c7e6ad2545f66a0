# SPDX-License-Identifier: Apache-2.0

"""The README.md of a submission: how to reproduce the results. Pure."""

import dataclasses
import pathlib
import shlex

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest import redact

#: How to create a cluster, if the user does not say.
SETUP = """\
Create a cluster with OpenStack Magnum and fetch its kubeconfig. TEMPLATE is a
cluster template of the product for Kubernetes {kubernetes}.

```shell
openstack coe cluster create conformance --cluster-template TEMPLATE
openstack coe cluster config conformance --dir .
export KUBECONFIG=$PWD/config
kubectl get nodes
```
"""

_TEXT = """\
# Conformance of {name} {version}, Kubernetes {kubernetes}

## The cluster

{setup}
The cluster of these results:

{facts}

## The tests

{program}

```shell
{commands}
```

{where}
"""

_KUBECONFIG = '$KUBECONFIG'
#: The archive's name in the previews of the backends, and its name here.
_DRAFT, _ARCHIVE = 'ARCHIVE.part', 'results.tar.gz'


def render(result, name, version, plan=None, setup=None) -> str:
    """Write the README.

    :param result: :class:`~..model.Result` of the run.
    :param name: of the product.
    :param version: of the product.
    :param plan: :class:`~..run.runner.Plan` of the run; None if it was not
        recorded: then that of a certified run, the only kind that can be
        submitted.
    :param setup: Markdown on how to create a cluster, None for SETUP.
    """
    kubernetes = result.cluster.kubernetes
    sonobuoys = result.backend == model.SONOBUOY
    program = 'Sonobuoy' if sonobuoys else 'Hydrophone'
    if result.backend_version:
        program += f' {result.backend_version}'
    plan = _portable(plan or runner.Plan(mode=model.CERTIFIED))
    commands = '\n'.join(map(_shown, _commands(result.backend, plan)))
    text = _TEXT.format(
        name=name, version=version, kubernetes=kubernetes,
        setup=(setup or SETUP.format(kubernetes=kubernetes)).strip() + '\n',
        facts=_facts(result), commands=commands,
        program=f'The tests were run with {program}:',
        where=_SONOBUOY if sonobuoys else _HYDROPHONE)
    return redact.redact(text)


_SONOBUOY = """\
The run is over when `status` says `complete` for the aggregator. `e2e.log`
and `junit_01.xml` are the files of those names below
`plugins/e2e/results/global` in the archive, unchanged."""
_HYDROPHONE = """\
`e2e.log` and `junit_01.xml` are the files that the program wrote,
unchanged."""


def _facts(result):
    cluster = result.cluster
    pairs = [('Kubernetes', cluster.kubernetes), ('CNI', cluster.cni),
             ('Magnum driver', cluster.driver), ('node image', cluster.image),
             ('nodes', str(len(cluster.nodes) or '')),
             ('specs that ran', str(len(result.ran))),
             ('started', f'{result.started:%Y-%m-%d %H:%M} UTC'
              if result.started else '')]
    return '\n'.join(f'- {what}: {value}' for what, value in pairs if value)


def _portable(plan):
    """The plan without folders of the machine that it was made on."""
    files = {what: path and pathlib.Path(path.name) for what, path in (
        ('mirrors', plan.images.mirrors),
        ('docker_config', plan.images.docker_config))}
    return dataclasses.replace(
        plan, images=dataclasses.replace(plan.images, **files))


def _commands(backend, plan):
    if backend == model.SONOBUOY:
        return sonobuoy.Sonobuoy(plan, 'sonobuoy', _KUBECONFIG).preview('.')
    # Alone, it needs no second call.
    return hydrophone.Hydrophone(
        plan, 'hydrophone', _KUBECONFIG).preview('.')[:1]


def _shown(argv):
    """A command line for a shell, in which the variable is expanded."""
    return shlex.join(
        _ARCHIVE if word == _DRAFT else str(word) for word in argv).replace(
            shlex.quote(_KUBECONFIG), f'"{_KUBECONFIG}"')
