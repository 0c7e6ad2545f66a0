# SPDX-License-Identifier: Apache-2.0

"""Who may do what with Magnum's API: one table; everyone else is denied.

Pure. Derived from the policies of magnum 23.0.0 (magnum/common/policies/*.py)
and from what its controllers look up first (magnum/api/controllers/v1/*.py).
The resources belong to the project of :data:`MEMBER`.
"""

import dataclasses

#: Has the role member in the project, and created the resources.
MEMBER = 'member'
#: Has the role reader in the same project.
READER = 'reader'
#: Has the role admin in the same project.
PROJECT_ADMIN = 'admin of the project'
#: Has the role member in another project.
OTHER = 'member of another project'
#: Has the role admin in another project.
ADMIN = 'admin of another project'
#: An application credential of MEMBER with only the role reader, of the kind
#: that drivers give to clusters.
CREDENTIAL = 'credential with the role reader'

ALL = frozenset((MEMBER, READER, PROJECT_ADMIN, OTHER, ADMIN, CREDENTIAL))
_ADMINS = frozenset((PROJECT_ADMIN, ADMIN))
_WRITERS = frozenset((MEMBER, PROJECT_ADMIN))
_READERS = ALL - {OTHER}


@dataclasses.dataclass(frozen=True)
class Rule:
    """Who may perform an operation.

    :param allowed: personas for whom it succeeds.
    :param unspecified: personas for whom any answer is accepted: an admin of
        another project, where Magnum 23 looks in the own project first; those
        whose request would destroy the resource. All others are denied.
    :param denied: statuses of a denial. A persona that must not know about a
        resource gets the answer for one that does not exist.
    :param refused: statuses of a request that Magnum refuses even to allowed
        personas: it is invalid on purpose, so that the cluster survives.
    """

    allowed: frozenset
    unspecified: frozenset = frozenset()
    denied: frozenset = frozenset((403, 404))
    refused: frozenset = frozenset()

    def judge(self, persona, status):
        """Return what is wrong with an answer, or None."""
        if status >= 500 or status == 401:
            return f'{persona}: {status} is not an answer'
        if persona in self.unspecified:
            return None
        if persona in self.allowed:
            if status in (403, 404):
                return f'{persona}: denied with {status}'
            return (None if status < 300 or status in self.refused else
                    f'{persona}: not served, but answered with {status}')
        return (None if status in self.denied
                else f'{persona}: not denied, but answered with {status}')


_AWAY = frozenset((ADMIN,))
#: The request is invalid on purpose: a bad value, or a duplicate.
_WRONG = frozenset((400, 409))

RULES = {
    # Everyone has templates in their own project.
    'create template': Rule(ALL - {READER, CREDENTIAL}),
    'show template': Rule(_READERS),
    'update template': Rule(_WRITERS, _AWAY),
    'publish template': Rule(frozenset((PROJECT_ADMIN,)), _AWAY),
    'delete template': Rule(_WRITERS | _AWAY),
    # Created by ADMIN.
    'show public template': Rule(ALL),
    'update public template': Rule(_ADMINS),
    'delete public template': Rule(_ADMINS),
    'list services': Rule(_ADMINS),
    'show stats': Rule(_READERS),
    'show quota': Rule(_READERS),
    'list quotas': Rule(_ADMINS),
    # A shared project may already have one, which is left alone.
    'create quota': Rule(_ADMINS, refused=frozenset((409,))),
    'update quota': Rule(_ADMINS),
    'delete quota': Rule(_ADMINS),
    'show cluster': Rule(_READERS),
    'list clusters': Rule(_READERS),
    'list clusters in detail': Rule(_READERS),
    'update cluster': Rule(_WRITERS | _AWAY, refused=_WRONG),
    'resize cluster': Rule(_WRITERS, _AWAY, refused=_WRONG),
    'upgrade cluster': Rule(frozenset(), _WRITERS | _AWAY),
    'delete cluster': Rule(frozenset(), _WRITERS | _AWAY),
    # The certificates are those of the cluster's creator.
    'show CA certificate': Rule(
        frozenset((MEMBER, PROJECT_ADMIN, CREDENTIAL)), _AWAY),
    'sign certificate': Rule(
        _WRITERS, _AWAY, frozenset((400, 403, 404))),
    'rotate CA certificate': Rule(frozenset(), _WRITERS | _AWAY),
    'rotate credential': Rule(frozenset(), _WRITERS | _AWAY),
    'list node groups': Rule(_READERS),
    'show node group': Rule(_READERS),
    'create node group': Rule(_WRITERS, _AWAY, refused=_WRONG),
    'update node group': Rule(_WRITERS, _AWAY, refused=_WRONG),
    'delete node group': Rule(_WRITERS, _AWAY, refused=_WRONG),
}
