# SPDX-License-Identifier: Apache-2.0

"""Sends what must be refused, and says all that is wrong with the answers.

One test is about one field: it tries every value that cannot be right, so
that one run shows all of them.
"""

import json

from tempest import config
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import bad_input
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import details
from magnum_capi_tempest.tests.common import flags

CONF = config.CONF


def answer(send, *args, **kwargs):
    """Send a request and return the answer, whatever it is.

    :param send: method of a client, or a function that calls one; what it
        returns may be the answer already.
    :returns: bad_input.Answer.
    """
    try:
        body = send(*args, **kwargs)
    except lib_exc.InvalidHTTPResponseBody as e:
        # Only 500 and 501 are read like this.
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


def tried(cases, expected=bad_input.REFUSED, strict=False):
    """Send requests and return what is wrong with their answers.

    :param cases: iterable of (kind, name of the value, send, where): send is
        a function without parameters that sends the request; where tells
        requests of one value apart, and may be missing.
    :param expected: statuses of a good refusal.
    :param strict: what Magnum 23 is known to answer is wrong, too.
    :returns: (sentences about what is wrong, those about what is known).
    """
    wrong, known = [], []
    for kind, value, send, *where in cases:
        found = answer(send)
        trouble = bad_input.complaint(found, expected)
        if trouble:
            tolerated = not strict and bad_input.is_known(kind, value, found)
            (known if tolerated else wrong).append(
                ' '.join((*where, value, trouble)))
    return wrong, known


class BaseRefusalsTest(base.BaseMagnumCapiTest):
    """A test of what must be refused.

    What Magnum 23 is known to do instead is no failure unless
    [magnum_capi_feature_enabled] bad_input_refused is true. It is attached to
    the result in any case.
    """

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.strict = CONF.magnum_capi_feature_enabled.bad_input_refused

    @flags.stricter('bad_input_refused')
    def assert_refused_all(self, cases, expected=bad_input.REFUSED):
        """Assert that requests are refused as they should be: tried()."""
        self.assert_none(*tried(cases, expected, self.strict))

    def assert_field_refuses(self, kind, send):
        """Assert that a field refuses the values of its kind.

        :param kind: one of bad_input.KINDS.
        :param send: function of a value.
        """
        self.assert_refused_all(
            (kind, name, lambda value=value: send(value))
            for name, value in bad_input.KINDS[kind].items())

    def assert_none(self, wrong, known):
        """Assert that nothing is wrong; say what is known."""
        if known:
            self.addDetail('what Magnum 23 is known to answer',
                           details.text('\n'.join(known)))
        self.assertEqual([], wrong)
