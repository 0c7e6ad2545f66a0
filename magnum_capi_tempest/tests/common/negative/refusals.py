# SPDX-License-Identifier: Apache-2.0

"""Sends requests that must be refused, and reports all wrong answers.

A test tries every invalid value of every field, so that a single run shows all
of them.
"""

import collections.abc
import dataclasses
import functools
import json
import re
import typing

from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import details
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import known_answers
from magnum_capi_tempest import texts

#: It differs in each run; the table of known answers has a placeholder.
_UUID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')

#: Detail of a test that ``tests.known_answers`` records: a line of JSON for
#: each answer, [where, kind, value, status].
ANSWERS = 'answers that are no refusals'

#: What is sent: where, kind, name of the value, and a function that sends it.
Case: typing.TypeAlias = tuple[
    str, str, str, collections.abc.Callable[[], object]]

#: Whether a Magnum is known to answer so: where, kind, value and answer.
Known: typing.TypeAlias = collections.abc.Callable[
    [str, str, str, bad_input.Answer], bool]


def answer(send: collections.abc.Callable[..., typing.Any], *args: object,
           **kwargs: object) -> bad_input.Answer:
    """Send a request and return its answer, be it a success or an error.

    :param send: method of a client, or a function that calls one; may also
        return the answer itself.
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


def _parsed(body: object) -> object:
    if isinstance(body, (str, bytes)):
        try:
            return json.loads(body)
        except ValueError:
            return None
    return body


@dataclasses.dataclass(frozen=True)
class Deviation:
    """An answer that is not a good refusal.

    :param where: the field or request, as the table of known answers names it.
    :param value: name of what was sent, likewise.
    :param trouble: end of a sentence that begins with these two.
    """

    where: str
    kind: str
    value: str
    status: int
    trouble: str
    known: bool

    def __str__(self) -> str:
        return f'{self.where} {self.value} {self.trouble}'


def tried(cases: collections.abc.Iterable[Case],
          expected: collections.abc.Container[int] = bad_input.REFUSED,
          known: Known | None = None) -> collections.abc.Iterator[Deviation]:
    """Send requests and yield a Deviation for each that is not refused well.

    :param cases: iterable of (where, kind, name of the value, send): send is
        a function without parameters that sends the request.
    :param expected: statuses of a good refusal.
    :param known: function of (where, kind, value, answer) that returns whether
        this Magnum is known to answer so; by default, nothing is known.
    """
    for where, kind, value, send in cases:
        found = answer(send)
        trouble = bad_input.complaint(found, expected)
        if trouble:
            key = _UUID.sub('UUID', where), kind, _UUID.sub('UUID', value)
            yield Deviation(*key, found.status, trouble,
                            bool(known and known(*key, found)))


def of_fields(resource: str, send: collections.abc.Callable[..., object],
              leave_out: collections.abc.Container[str] = ()
              ) -> collections.abc.Iterator[Case]:
    """Yield the cases of all fields of a resource, for :func:`tried`.

    :param resource: key of bad_input.FIELDS.
    :param send: function that sends a request with fields.
    :param leave_out: names of fields.
    """
    for field in bad_input.FIELDS[resource]:
        if field not in leave_out:
            for kind, name, value in bad_input.values(resource, field):
                yield (f'{resource} {field}', kind, name,
                       functools.partial(send, **{field: value}))


def of_parameters(where: str, ask: collections.abc.Callable[..., object],
                  parameters: collections.abc.Iterable[tuple[str, object]]
                  ) -> collections.abc.Iterator[Case]:
    """Yield the cases of parameters of a request, for :func:`tried`.

    :param ask: function that sends a request with parameters.
    :param parameters: pairs of a name and a value.
    """
    for key, value in parameters:
        yield (where, 'parameter', f'{key}={value!a}',
               functools.partial(ask, **{key: value}))


def assert_refused_all(
        test: base.BaseMagnumCapiTest, cases: collections.abc.Iterable[Case],
        expected: collections.abc.Container[int] = bad_input.REFUSED) -> None:
    """Assert that requests are refused properly, see :func:`tried`.

    Known wrong answers of this release of Magnum are no failures while
    magnum.input.refused is in not_promised. They are always attached to the
    result, and reports count them.
    """
    known = None
    if flags.not_promised('magnum.input.refused'):
        known = functools.partial(known_answers.is_known, known_answers.read(
            known_answers.MEASURED, microversions.of(test.magnum.templates)))
    deviations = list(tried(cases, expected, known))
    tolerated = [str(one) for one in deviations if one.known]
    if tolerated:
        test.addDetail(texts.KNOWN_ANSWERS,
                       details.text('\n'.join(tolerated)))
    if deviations:
        test.addDetail(ANSWERS, details.text('\n'.join(
            json.dumps([one.where, one.kind, one.value, one.status])
            for one in deviations)))
    test.assertEqual([], [str(one) for one in deviations if not one.known])
