# SPDX-License-Identifier: Apache-2.0


"""What an error says to the owner of a cluster, and whether it is transient.

Errors of this project contain addresses and paths of the operator, but tenants
read Magnum's status_reason.
"""

from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import spec
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.helm import releases
from magnum_capi.driver.observed import reasons
from magnum_capi import errors
from magnum_capi.kube import lease
from magnum_capi.kube import rest

#: Transient errors, after which the same request is retried.
TRANSIENT = (
    rest.Unreachable, helm_errors.HelmDisturbed, releases.ReleasePending,
    lease.LockBusy, lease.LockLost, services.CloudUnreachable)

_UNEXPECTED = ('an unexpected error of the driver; see the log of '
               'magnum-conductor')


class ClusterGone(errors.MagnumCapiError):
    """The cluster is being deleted, or no longer in Magnum."""


class Failed(errors.MagnumCapiError):
    """An operation failed; its text is for the owner of the cluster."""


class Busy(Failed):
    """Refused because another operation on the cluster has not ended."""


class NotViable(Failed):
    """Refused before anything was changed."""


def owner_message(error: BaseException) -> str:
    """The text of an error for the owner of a cluster."""
    if isinstance(error, helm_errors.HelmFailed):
        text = error.reason
    elif isinstance(error, spec.InvalidSpec):
        text = str(error)
    elif isinstance(error, services.CloudError):
        # Clients report the address of a service that does not answer.
        missing = isinstance(error, services.CloudUnreachable)
        parts = [error.what, error.status if missing else error.last_seen]
        text = ': '.join(str(part) for part in parts if part)
        if error.hint:
            text += f'. {error.hint}'
    elif isinstance(error, errors.MagnumCapiError):
        text = error.what
        if error.hint and isinstance(
                error, (errors.UsageError, rest.Forbidden)):
            text += f'. {error.hint}'
    else:
        text = _UNEXPECTED
    return reasons.cut(' '.join(text.split()), reasons.LIMIT)
