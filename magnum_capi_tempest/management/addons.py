# SPDX-License-Identifier: Apache-2.0

"""CRDs of the addon provider, with which production charts install addons.

Charts such as capi-helm-charts render ``HelmRelease`` and ``Manifests``
objects, and drivers wait for their ``status.phase``. The operator that owns
these kinds (azimuth-cloud/cluster-api-addon-provider) makes its CRDs when it
starts, so there is no file to copy; these are ours, with the same group,
version, names and status, and do not validate the rest.
"""

from magnum_capi_tempest import json_types


def _crd(kind: str, plural: str) -> json_types.Object:
    group = 'addons.stackhpc.com'
    columns = (('Cluster', '.spec.clusterName'), ('Phase', '.status.phase'))
    return {
        'apiVersion': 'apiextensions.k8s.io/v1',
        'kind': 'CustomResourceDefinition',
        'metadata': {'name': f'{plural}.{group}'},
        'spec': {
            'group': group,
            'scope': 'Namespaced',
            'names': {'kind': kind, 'listKind': f'{kind}List',
                      'plural': plural, 'singular': kind.lower()},
            'versions': [{
                'name': 'v1alpha1',
                'served': True,
                'storage': True,
                'subresources': {'status': {}},
                'additionalPrinterColumns': [
                    {'name': name, 'type': 'string', 'jsonPath': path}
                    for name, path in columns],
                'schema': {'openAPIV3Schema': {
                    'type': 'object',
                    'x-kubernetes-preserve-unknown-fields': True}},
            }],
        },
    }


CRDS = [_crd('HelmRelease', 'helmreleases'), _crd('Manifests', 'manifests')]
