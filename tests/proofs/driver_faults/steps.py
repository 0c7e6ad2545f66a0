# SPDX-License-Identifier: Apache-2.0

"""The steps of create, upgrade and delete, by the requests they begin with.

In the order in which the driver comes by (driver/operations.py, reconcile.py,
ownership.py, upgrading.py, deletion.py) and helm (pkg/action/install.go,
upgrade.go, uninstall.go: the revision is written as pending, then the
objects, then the revision as deployed). A conductor that stops at the request
of a step has done all steps before it. Pure.
"""

import dataclasses
import uuid

from tests.proofs.driver_faults import rules

_REQUEST = rules.Action.HOLD_REQUEST
_ANSWER = rules.Action.HOLD_ANSWER


@dataclasses.dataclass(frozen=True)
class Step:
    """Where an operation is stopped.

    :param pattern: of rules.Rule; ``{r}`` is the name of the release,
        ``{u}`` the cluster's uuid.
    :param helm: the request is helm's.
    :param late: whether it comes after all machines are gone.
    """

    text: str
    pattern: str
    action: rules.Action = _REQUEST
    nth: int = 1
    helm: bool = False
    late: bool = False

    def rule(self, release) -> rules.Rule:
        """The rule that stops it, once."""
        pattern = self.pattern.format(
            r=release, u=uuid.UUID(release.removeprefix('c')))
        return rules.Rule(pattern, self.action, self.nth, times=1)


#: The first time it is created; see keys/cluster_secrets.py, write_state.
_STATE = '(POST|PUT) .*/secrets/{r}-magnum$'
_FORGET = 'DELETE .*/secrets[?]labelSelector=.*{u}'
_REVISION = r'secrets/sh\.helm\.release\.v1\.{r}\.v'

LOCK = Step('before it has the lock', 'POST .*/leases/{r}')
UNLOCK = Step('before it gives back the lock', 'DELETE .*/leases/{r}')

CREATE = (
    LOCK,
    Step('before it notes the operation', _STATE),
    Step('name of the credential is noted', _STATE, _ANSWER, 2),
    Step('credential is made, its id is not noted', _STATE, nth=3),
    Step('id of the credential is noted',
         'PATCH .*/secrets/{r}-cloud-credentials'),
    Step('credential is applied, which is not noted', _STATE, nth=4),
    Step('before the certificate authorities', 'PATCH .*/secrets/{r}-ca[?]'),
    Step('before the key of service accounts', 'PATCH .*/secrets/{r}-sa[?]'),
    Step('helm begins', f'POST .*/{_REVISION}', helm=True),
    Step('helm has noted its revision', f'POST .*/{_REVISION}', _ANSWER,
         helm=True),
    Step('helm has made the Cluster',
         'POST /apis/cluster.x-k8s.io/.*/clusters/{r}', _ANSWER, helm=True),
    # Objects to which the Cluster refers come later, so it waits forever.
    Step('helm has made the node groups',
         'POST /apis/cluster.x-k8s.io/.*/machinedeployments/{r}-', _ANSWER,
         helm=True),
    Step('helm has made all objects', f'PUT .*/{_REVISION}', helm=True),
    UNLOCK,
)

UPGRADE = (
    LOCK,
    Step('before it notes the operation', _STATE),
    Step('operation is noted, rows are not written', _STATE, _ANSWER),
    Step('helm begins', f'POST .*/{_REVISION}', helm=True),
    Step('helm has noted its revision', f'POST .*/{_REVISION}', _ANSWER,
         helm=True),
    Step('helm has changed the control plane',
         'PATCH .*/kubeadmcontrolplanes/{r}', _ANSWER, helm=True),
    Step('helm has changed all objects', f'PUT .*/{_REVISION}', nth=2,
         helm=True),
    UNLOCK,
)

DELETE = (
    LOCK,
    Step('before it notes the operation', _STATE),
    Step('helm begins', f'PUT .*/{_REVISION}', helm=True),
    Step('helm has noted what it does', f'PUT .*/{_REVISION}', _ANSWER,
         helm=True),
    Step('helm has deleted the Cluster',
         'DELETE .*/clusters/{r}', _ANSWER, helm=True),
    Step('helm has deleted all objects', f'DELETE .*/{_REVISION}',
         helm=True),
    UNLOCK,
    # What is noted before, and how often, depends on how machines go.
    Step('before its Secrets go', _FORGET, late=True),
    Step('its Secrets are gone', _FORGET, _ANSWER, late=True),
)
