# SPDX-License-Identifier: Apache-2.0

"""Sends requests that must be refused, and reports all wrong answers.

A test is about one field and tries every invalid value of it, so that a
single run shows all of them.
"""

import dataclasses
import json
import re

from tempest import config
from tempest.lib import exceptions as lib_exc

from magnum_capi import waiting
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import details
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import known_answers

CONF = config.CONF

#: It differs in each run; the table of known answers has a placeholder.
_UUID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')

#: Detail of a test that ``tests.known_answers`` records: a line of JSON for
#: each answer, [kind, request, status].
ANSWERS = 'answers that are no refusals'


def answer(send, *args, **kwargs):
    """Send a request and return its answer, be it a success or an error.

    :param send: method of a client, or a function that calls one; may also
        return the answer itself.
    :returns: bad_input.Answer.
    """
    try:
        body = send(*args, **kwargs)
    except lib_exc.InvalidHTTPResponseBody as e:
        # Tempest raises it for 500 and 501 only.
        return bad_input.Answer(500, str(e))
    except lib_exc.RestClientException as e:
        if not hasattr(e, 'resp'):
            raise
        return bad_input.Answer(int(e.resp.status), _parsed(e.resp_body))
    if isinstance(body, bad_input.Answer):
        return body
    return bad_input.Answer(int(body.response.status), body)


def _parsed(body):
    if isinstance(body, (str, bytes)):
        try:
            return json.loads(body)
        except ValueError:
            return None
    return body


@dataclasses.dataclass(frozen=True)
class Deviation:
    """An answer that is not a good refusal.

    :param request: what was sent, as the table of known answers names it.
    :param trouble: end of a sentence that begins with the request.
    """

    kind: str
    request: str
    status: int
    trouble: str
    known: bool

    def __str__(self):
        return f'{self.request} {self.trouble}'


def tried(cases, expected=bad_input.REFUSED, known=None):
    """Send requests and yield a Deviation for each that is not refused well.

    :param cases: iterable of (kind, name of the value, send, where): send is
        a function without parameters that sends the request; where
        distinguishes requests with the same value, and may be missing.
    :param expected: statuses of a good refusal.
    :param known: function of (kind, request, answer) that returns whether
        this Magnum is known to answer so; by default, nothing is known.
    """
    for kind, value, send, *where in cases:
        found = answer(send)
        trouble = bad_input.complaint(found, expected)
        if trouble:
            request = _UUID.sub('UUID', ' '.join((*where, value)))
            yield Deviation(kind, request, found.status, trouble,
                            bool(known and known(kind, request, found)))


class BaseRefusalsTest(base.BaseMagnumCapiTest):
    """A test of requests that must be refused.

    Known wrong answers of this release of Magnum are no failures while
    magnum.input.refused is in not_promised. They are always attached to the
    result, and reports count them.
    """

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.known_answers = (
            known_answers.read(known_answers.MEASURED, microversions.of(
                cls.magnum.templates))
            if flags.not_promised('magnum.input.refused') else None)

    def assert_refused_all(self, cases, expected=bad_input.REFUSED):
        """Assert that requests are refused properly, see tried()."""
        self.assert_none(tried(cases, expected, self.is_known))

    def assert_field_refuses(self, kind, send):
        """Assert that a field refuses the invalid values of its kind.

        :param kind: one of bad_input.KINDS.
        :param send: function of a value that sends it.
        """
        self.assert_refused_all(
            (kind, name, lambda value=value: send(value))
            for name, value in bad_input.KINDS[kind].items())

    def assert_none(self, deviations):
        """Assert that all deviations are known, and attach them."""
        deviations = list(deviations)
        known = [str(one) for one in deviations if one.known]
        if known:
            self.addDetail(f'{waiting.TOLERATED} answers of Magnum',
                           details.text('\n'.join(known)))
        if deviations:
            self.addDetail(ANSWERS, details.text('\n'.join(
                json.dumps([one.kind, one.request, one.status])
                for one in deviations)))
        self.assertEqual([], [str(one) for one in deviations
                              if not one.known])

    def is_known(self, kind, request, found):
        """Return whether this release is known to answer a request so."""
        return self.known_answers is not None and self.known_answers.has(
            self._name(), kind, request, found)

    def _name(self):
        return f'{type(self).__name__}.{self._testMethodName}'
