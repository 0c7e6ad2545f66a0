# SPDX-License-Identifier: Apache-2.0

"""Asks the API server in dry runs whether it admits what a run creates.

A dry run passes through all of admission, but nothing is stored
(https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run).
"""

from magnum_capi_tempest.conformance import documents
from magnum_capi_tempest.conformance.run import admission
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import redact
from magnum_capi_tempest import texts

_RBAC = '/apis/rbac.authorization.k8s.io/v1'
_ADMISSION = '/apis/admissionregistration.k8s.io/v1'

#: Most characters of a refusal.
_TEXT = 300


def ask(reader: kube.Client, namespace: str,
        labels: dict[str, str]) -> admission.Answers:
    """What admission says about a run's namespace and role.

    Errors of the cluster are not raised: what cannot be queried is unknown.

    :param labels: of the namespace.
    """
    space, refusals = _create(reader, 'namespace', '/api/v1/namespaces', {
        'apiVersion': 'v1', 'kind': 'Namespace',
        'metadata': {'name': namespace, 'labels': labels}})
    # Both programs create it, which requires having these permissions.
    _, more = _create(reader, 'cluster role', f'{_RBAC}/clusterroles', {
        'apiVersion': 'rbac.authorization.k8s.io/v1', 'kind': 'ClusterRole',
        'metadata': {'name': f'{namespace}-preflight'},
        'rules': [{'apiGroups': ['*'], 'resources': ['*'],
                   'verbs': ['*']}]})
    level = None
    if isinstance(documents.dig(space, 'metadata'), dict):
        level = documents.text(space, 'metadata', 'labels', admission.ENFORCE)
    return admission.Answers(
        (*refusals, *more), level, labels.get(admission.ENFORCE, ''),
        tuple(_guards(reader)))


def _create(reader, what, path, obj):
    """The object that would be created, and why it would not."""
    try:
        return reader.ask('POST', path, obj, dryRun='All'), ()
    except kube.KubeError as e:
        said = texts.line(redact.redact(str(e.last_seen or e.what)), _TEXT)
        if e.status is None or e.status in (404, 409) or (
                # A webhook that is down also causes a 500.
                e.status >= 500 and 'webhook' not in said):
            # Unsupported, or it already exists: preflight reports that.
            return None, ()
        return None, (admission.Refusal(what, e.status, said),)


def _guards(reader):
    """Webhooks and policies that may refuse objects."""
    for kind in ('validatingwebhookconfigurations',
                 'mutatingwebhookconfigurations'):
        for obj in _all(reader, kind):
            for hook in documents.entries(obj, 'webhooks'):
                # A mutating one refuses only if it does not answer.
                if kind.startswith('validating') \
                        or hook.get('failurePolicy') != 'Ignore':
                    yield admission.Guard(
                        f'the webhook {documents.text(hook, "name")}',
                        tuple(documents.entries(hook, 'rules')),
                        hook.get('namespaceSelector'))
    policies = {documents.text(obj, 'metadata', 'name'): obj
                for obj in _all(reader, 'validatingadmissionpolicies')}
    for binding in _all(reader, 'validatingadmissionpolicybindings'):
        name = documents.text(binding, 'spec', 'policyName')
        actions = documents.dig(binding, 'spec', 'validationActions') or ()
        if name not in policies or 'Deny' not in actions:
            continue
        policy = documents.dig(policies[name], 'spec', 'matchConstraints')
        rules = tuple(documents.entries(policy, 'resourceRules'))
        chosen = documents.dig(binding, 'spec', 'matchResources',
                               'namespaceSelector')
        if admission.selects(chosen, admission.TESTS):
            yield admission.Guard(
                f'the policy {name}', rules,
                documents.dig(policy, 'namespaceSelector'))


def _all(reader, kind):
    try:
        return reader.items(f'{_ADMISSION}/{kind}')
    except kube.KubeError:
        return ()
