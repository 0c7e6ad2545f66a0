# SPDX-License-Identifier: Apache-2.0
"""No secret passes, whatever a program has made of it."""

import base64
import gzip
import json

import hypothesis
from hypothesis import strategies
import testtools

from magnum_capi_tempest import redact
from tests.unit.redact import shapes

#: The same examples in every run; a slow machine fails no test.
many = hypothesis.settings(
    max_examples=300, derandomize=True, database=None, deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck))

#: Characters of a secret that may be seen: it takes as many to guess it.
_SEEN = 5


def one_of(functions):
    return strategies.sampled_from(sorted(functions))


class ShapesTest(testtools.TestCase):

    def assert_gone(self, shape, name, secret):
        """No piece of a secret is left of a text, and it is counted."""
        text = shape(name, secret)
        found = redact.examine(text)
        self.assertTrue(found.counts, text)
        around = shape(name, '') + redact.MARK
        for start in range(len(secret) - _SEEN):
            piece = secret[start:start + _SEEN + 1]
            if piece not in around:
                self.assertNotIn(piece, found.text, text)

    @many
    @hypothesis.given(one_of(shapes.QUOTED),
                      strategies.sampled_from(shapes.NAMES), shapes.quoted)
    def test_quoted(self, shape, name, secret):
        self.assert_gone(shapes.QUOTED[shape], name, secret)

    @many
    @hypothesis.given(one_of(shapes.SPACED),
                      strategies.sampled_from(shapes.NAMES), shapes.spaced)
    def test_to_the_end_of_a_line(self, shape, name, secret):
        self.assert_gone(shapes.SPACED[shape], name, secret)

    @many
    @hypothesis.given(one_of(shapes.MARKED),
                      strategies.sampled_from(shapes.NAMES), shapes.marked)
    def test_to_the_next_blank(self, shape, name, secret):
        self.assert_gone(shapes.MARKED[shape], name, secret)

    @many
    @hypothesis.given(
        strategies.sampled_from(shapes.HEADERS), shapes.plain,
        strategies.sampled_from(('', 'Bearer ', 'Basic ')))
    def test_headers(self, name, secret, scheme):
        for shape in shapes.OF_HEADERS:
            self.assert_gone(
                lambda n, v, shape=shape: shape(n, f'{scheme}{v}'),
                name, secret)

    @many
    @hypothesis.given(
        one_of(shapes.ENCODED), one_of(shapes.ENCODINGS),
        one_of(shapes.AROUND), strategies.sampled_from(shapes.NAMES),
        shapes.spaced)
    def test_encoded(self, document, encoding, around, name, secret):
        data = shapes.ENCODED[document](name, secret).encode()
        encoded = shapes.ENCODINGS[encoding](data)
        text = shapes.AROUND[around](encoded)

        found = redact.examine(text)

        self.assertTrue(found.counts, text)
        for line in encoded.split('\n'):
            for start in range(8, len(line) - 12, 12):
                self.assertNotIn(line[start:start + 12], found.text, text)

    @many
    @hypothesis.given(shapes.plain, strategies.integers(20, 400))
    def test_what_was_cut_off(self, secret, length):
        """Tempest keeps 4096 characters of a body, wherever that is."""
        release = base64.b64encode(base64.b64encode(gzip.compress(
            json.dumps({'chart': 'x' * 40, 'config': {'a': secret}}).encode())
        )).decode()
        for text in (
                json.dumps({'a': 'b' * 200, 'password': secret}),
                'value: ' + base64.b64encode(json.dumps(
                    {'password': secret, 'a': 'b' * 300}).encode()).decode(),
                f'release: {release}'):
            shown = redact.redact(text[:length + 40])

            self.assertNotIn(secret, shown)
            self.assertNotIn(release[8:30], shown)
