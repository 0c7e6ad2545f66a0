# SPDX-License-Identifier: Apache-2.0

"""The error of a record that cannot be read."""

from magnum_capi import errors


class Damage(errors.MagnumCapiError):
    """A record of results is missing, broken, or not safe to read.

    Nothing is known about the cluster then: a harness error.
    """

    exit_code = 3


class AnotherKind(Damage):
    """A file that somebody named is no record of results: wrong usage."""

    exit_code = 2
