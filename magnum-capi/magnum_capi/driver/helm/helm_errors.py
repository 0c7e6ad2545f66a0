# SPDX-License-Identifier: Apache-2.0

"""Turns helm's messages into typed errors, and one line for the user.

Helm has one exit code for all errors, so its text must be parsed. The texts
are those of helm 3, measured in tests/functional/driver/test_helm.py.
"""

import re
import typing

from magnum_capi import errors

#: Longest reason shown to a user.
_MAX_TEXT = 600


class HelmFailed(errors.MagnumCapiError):
    """A helm command failed.

    :param reason: one line for the owner of the cluster: the message of helm
        or the chart, without paths and addresses of the operator.
    """

    def __init__(self, what: str, *, reason: str,
                 **kwargs: typing.Any) -> None:
        super().__init__(what, last_seen=reason, **kwargs)
        self.reason = reason


class HelmDisturbed(HelmFailed):
    """A transient error: a retry may help.

    The management cluster or the repository of the chart did not answer,
    another operation on the release was in progress, or helm did not come to
    its end.
    """


class VersionGone(HelmFailed):
    """Helm's record names versions of objects that are not served now.

    See :func:`releases.update_versions`.
    """


class _Sign(typing.NamedTuple):
    """What a message of helm means.

    :param shown: to the owner of the cluster, instead of words of the
        network; None: helm's reason.
    """

    kind: type[HelmFailed]
    shown: str | None
    pattern: re.Pattern[str]


_NOT_FETCHED = 'the chart could not be fetched'

#: The meanings of helm 3's errors, most specific first.
_SIGNS = (
    _Sign(HelmDisturbed, None, re.compile(
        r'another operation \(install/upgrade/rollback\) is in progress'
        r'|release: already exists|cannot re-use a name')),
    # The chart does not accept the values.
    _Sign(HelmFailed, None, re.compile(
        r'execution error at \(|don\'t meet the specifications of the schema'
        r'|error calling (include|fail|required)|YAML parse error on'
        r'|admission webhook|is invalid: |strict decoding error')),
    _Sign(HelmFailed, _NOT_FETCHED, re.compile(
        r'not a valid chart repository|chart .* not found'
        r'|failed to (download|fetch|do request)|repo .* not found'
        r'|"FetchReference"'
        r'|path .* not found|Chart\.yaml file is missing'
        r'|missing in charts/ directory|no cached repo found')),
    _Sign(HelmDisturbed, 'helm got no answer of the management cluster',
          re.compile(
              r'cluster unreachable|connection refused|i/o timeout'
              r'|TLS handshake timeout|no route to host|no such host'
              r'|context deadline exceeded|server was unable to return'
              r'|x509: |EOF$|Unauthorized$|ServiceUnavailable'
              # The connection broke while helm was at work.
              r'|connection reset by peer|broken pipe|unexpected EOF'
              r'|http2: (client connection lost|server sent GOAWAY)')),
    # Kubernetes' messages for 409, 429, 500 and 503 (apimachinery,
    # pkg/api/errors/errors.go; apiserver, pkg/registry/generic/registry).
    _Sign(HelmDisturbed, None, re.compile(
        r'the object has been modified|[Tt]oo many requests'
        r'|Internal error occurred|has prevented the request from succeeding'
        r'|unable to handle the request'
        # Those of etcd (etcd, api/v3rpc/rpctypes/error.go) are passed on.
        r'|etcdserver: |raft proposal dropped')),
    _Sign(HelmFailed, None, re.compile('')),
)

#: Why a chart could not be fetched now (helm 3, pkg/getter/httpgetter.go, and
#: net/http).
_NO_REPOSITORY = re.compile(
    r'dial (tcp|udp)|i/o timeout|TLS handshake timeout'
    r'|Client\.Timeout exceeded|context deadline exceeded'
    r'|connection reset by peer|EOF$'
    r'|http2: |: (429|5[0-9][0-9])\b|response status code (429|5[0-9][0-9])')

#: "helm uninstall" says this in a log line.
_VERSION_GONE = re.compile(
    r'unable to build kubernetes objects (from current release manifest'
    r'|for delete): [\s\S]*no matches for kind')

#: The same of what a chart makes now.
_UNSERVED = re.compile(r'no matches for kind "([^"]+)" in version "([^"]+)"')

#: A log line of client-go, such as the warning that a kind is deprecated.
_KLOG = re.compile(r'^[IWEF][0-9]{4} [0-9:.]+ .*\n?', re.MULTILINE)

#: A log line of --debug, and the stack trace after the error.
_DEBUG = re.compile(r'^[a-z_]+\.go:[0-9]+: .*\n?', re.MULTILINE)
_CALLS = re.compile(r'^helm\.go:[0-9]+: .*', re.MULTILINE | re.DOTALL)
#: The objects that "helm uninstall" could not delete.
_UNDELETED = re.compile(
    r'uninstall: Failed to delete release: \[([\s\S]*?)\]$', re.MULTILINE)


def reason_of(output: str) -> str:
    """Helm's reason for a failure in one line for the cluster's owner.

    :param output: helm's standard error.
    """
    undeleted = _UNDELETED.search(output)
    said = _said(output).rpartition('\nError: ')[2].removeprefix('Error: ')
    said = ' '.join(said.split())
    said = re.sub(r'^(UPGRADE|INSTALLATION) FAILED: ', '', said)
    said = re.sub(r'^(Upgrade|Release) "[^"]*" failed: ', '', said)
    said = re.sub(r'^execution error at \([^)]*\): ', '', said)
    if undeleted and said.startswith('failed to delete release'):
        said = f'{said}: {" ".join(undeleted[1].split())}'
    said = said.removesuffix(
        ' Use --debug flag to render out invalid YAML')
    said = re.sub(r'\b(Get|Post|Put|Patch|Delete) "https?://[^"]*": ', '',
                  said)
    # Keep only the last part of absolute paths. In single quotes they are
    # places in the values.
    said = re.sub(r"(?<![\w.:/'-])(?:/[\w.@+-]+)+/([\w.@+-]+)", r'\1', said)
    return said if len(said) <= _MAX_TEXT else said[:_MAX_TEXT - 3] + '...'


def _said(output: str) -> str:
    """Helm's standard error without log lines."""
    return _DEBUG.sub('', _CALLS.sub('', _KLOG.sub('', output)))


def failure(command: str, failed: errors.CommandFailed) -> HelmFailed:
    """The typed error for a failed command. Drops argv, which has paths."""
    if failed.returncode is None or failed.returncode in (124, 137):
        return HelmDisturbed(
            f'helm {command} did not end in time',
            reason='helm did not end in time', elapsed=failed.elapsed)
    if failed.returncode < 0:
        return HelmDisturbed(
            f'helm {command} was killed', reason='helm was killed',
            elapsed=failed.elapsed)
    reason, sign = reason_of(failed.output), _sign(failed.output)
    shown = sign.shown or reason
    unserved = _UNSERVED.search(reason)
    if sign.kind is HelmFailed and unserved:
        shown = (f'the chart makes a {unserved[1]} of {unserved[2]}, which '
                 'the management cluster does not serve; its operator must '
                 'choose a newer chart, or install the provider of that kind')
    return sign.kind(f'helm {command} failed', reason=shown,
                     where=reason if shown != reason else None,
                     elapsed=failed.elapsed)


def recorded(description: str) -> str:
    """The reason in helm's description of a failed revision, in one line."""
    return _sign(description).shown or reason_of(description)


def _sign(output: str) -> _Sign:
    if _VERSION_GONE.search(output):
        return _Sign(VersionGone, None, _VERSION_GONE)
    said = _said(output).rpartition('Error: ')[2].strip()
    found = next(sign for sign in _SIGNS if sign.pattern.search(said))
    if found.shown == _NOT_FETCHED and _NO_REPOSITORY.search(said):
        return _Sign(HelmDisturbed, 'the repository of the chart does not '
                     'answer', _NO_REPOSITORY)
    return found
