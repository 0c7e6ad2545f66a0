# SPDX-License-Identifier: Apache-2.0

"""The README.md of a submission: how to reproduce the results. Pure.

Everything in it is from the record of the run itself.
"""

import shlex

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

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

The tests were run with {program}. To run them again:

```shell
{commands}
```

{where}
"""

_SONOBUOY = """\
The run is over when `status` says `complete` for the aggregator. `e2e.log`
and `junit_01.xml` are the files of those names below
`plugins/{plugin}/results/global` in the archive, unchanged."""
_HYDROPHONE = """\
`e2e.log` and `junit_01.xml` are the files that the program wrote,
unchanged."""


def render(result: model.Result, name: str, version: str,
           setup: str | None = None) -> str:
    """Write the README.

    :param result: of a certified run.
    :param name: of the product.
    :param version: of the product.
    :param setup: Markdown on how to create a cluster, None for SETUP.
    """
    kubernetes = result.cluster.kubernetes
    sonobuoys = result.backend == model.SONOBUOY
    program = 'Sonobuoy' if sonobuoys else 'Hydrophone'
    if result.backend_version:
        program += f' {result.backend_version}'
    commands = _sonobuoy(result) if sonobuoys else _hydrophone(result)
    return redact.redact(_TEXT.format(
        name=texts.line(name), version=texts.line(version),
        kubernetes=kubernetes, program=program,
        setup=(setup or SETUP.format(kubernetes=kubernetes)).strip() + '\n',
        facts=_facts(result), commands='\n'.join(map(shlex.join, commands)),
        where=(_SONOBUOY.format(plugin=result.plugin) if sonobuoys
               else _HYDROPHONE)))


def _facts(result: model.Result) -> str:
    cluster = result.cluster
    pairs = [('Kubernetes', cluster.kubernetes), ('CNI', cluster.cni),
             ('Magnum driver', cluster.driver), ('node image', cluster.image),
             ('nodes', str(len(cluster.nodes) or '')),
             ('image of the tests', result.image),
             ('specs that ran', str(len(result.ran))),
             ('started', f'{result.started:%Y-%m-%d %H:%M} UTC'
              if result.started else '')]
    return '\n'.join(f'- {what}: {value}' for what, value in pairs if value)


def _processes(result: model.Result) -> int:
    """How many processes of Ginkgo ran the tests, 1 if unknown."""
    number = result.facts.get('processes', '')
    return int(number) if number.isdecimal() and len(number) < 5 else 1


def _sonobuoy(result: model.Result) -> list[list[str]]:
    run = ['sonobuoy', 'run', '--mode', model.CERTIFIED]
    if result.image:
        run += ['--kube-conformance-image', result.image]
    if _processes(result) > 1:
        # Not E2E_PARALLEL: with it and an empty skip, the conformance image
        # skips every [Serial] spec (kubernetes/kubernetes,
        # test/conformance/image/go-runner/cmd.go).
        run += ['--plugin-env',
                f'e2e.E2E_EXTRA_GINKGO_ARGS=--procs={_processes(result)}']
    return [run, ['sonobuoy', 'status'],
            ['sonobuoy', 'retrieve', '--filename', 'results.tar.gz'],
            ['sonobuoy', 'delete', '--wait']]


def _hydrophone(result: model.Result) -> list[list[str]]:
    run = ['hydrophone', '--conformance', '--output-dir', '.']
    if _processes(result) > 1:
        run += ['--parallel', str(_processes(result))]
    return [run, ['hydrophone', '--cleanup']]
