# SPDX-License-Identifier: Apache-2.0

"""Whether a test failed because of the cloud. Pure.

A driver is not to blame for a used-up quota, a flavor for which no host has
room, an unavailable Keystone, or leftovers that a service could not list. The
texts are those of nova 34.0.0 (exception.py, conductor/manager.py), neutron
29.0.0 with neutron_lib 5.0.1 (exceptions), cinder 29.0.0 (exception.py),
octavia (common/exceptions.py, QuotaException), magnum 23.0.0
(api/controllers/v1/cluster.py), keystonemiddleware 13.0.1 (auth_token),
tempest (lib/services/identity/v3/token_client.py) and leaks.watch.
"""

import collections.abc
import json
import re

from magnum_capi_tempest.report import model

#: (cause in words, texts that indicate it).
CAUSES = (
    ('quota exceeded', re.compile(
        r'Quota exceeded|Quota has been met for resources'
        r'|exceeds? allowed \S+ quota|exceeded for quota'
        r'|VolumeSizeExceedsAvailableQuota'
        r'|You have reached the maximum clusters per project'
        r'|No more IP addresses available')),
    ('no valid host', re.compile(
        r'No valid host (?:was )?found|Exhausted all hosts available')),
    ('Keystone is down', re.compile(
        r'The Keystone service is temporarily unavailable'
        r'|IdentityError.*Unexpected status code 5\d\d'
        r'|(?:Max retries exceeded|Unable to establish connection)\D{0,40}'
        r'\S*/v3/auth/tokens', re.DOTALL)),
    # leaks.watch.LeakFound, if it names nothing else. Magnum does not list
    # clusters that are half deleted, which is a driver's matter.
    ('leftovers are unknown', re.compile(
        r'left behind after the cleanup.*(?:\n  (?!cluster\b).*, as it '
        r'cannot be (?:listed now|read): .*)+(?:\n(?!  )|\Z)')),
)

#: Classes whose clusters lack a host or a quota on purpose; their tests judge
#: what a driver does about it.
ON_PURPOSE = ('test_cluster_truth.FailureTest',
              'test_cloud_quotas.CloudQuotasTest')

_CLUSTER = 'cluster of '


def cause(failure: str, status_reasons: collections.abc.Iterable[str] = ()
          ) -> str:
    """Return what the cloud lacks, in words; empty: nothing.

    :param failure: text of the exception, without its stack.
    :param status_reasons: of the test's clusters, from Magnum.
    """
    for said, pattern in CAUSES:
        if any(map(pattern.search, (failure, *status_reasons))):
            return said
    return ''


def of_test(test: model.Test) -> str:
    """Return :func:`cause` for a failed test, using its evidence."""
    if test.status not in (model.FAILED, model.ENVIRONMENT) or any(
            name in test.id for name in ON_PURPOSE):
        return ''
    return cause(test.reason, _status_reasons(test.details))


def _status_reasons(details):
    for detail in details:
        if detail.name.startswith(_CLUSTER):
            try:
                yield json.loads(detail.text).get('status_reason') or ''
            except (ValueError, AttributeError):
                continue
