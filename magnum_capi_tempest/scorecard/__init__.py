# SPDX-License-Identifier: Apache-2.0

"""WHO keeps which promise? Tests of the suite times drivers.

:mod:`suite` has the tests: which of them needs which flag, and asks for which
operation of Magnum. :mod:`results` is what one driver did. :mod:`model` lays
the one over the other and judges; it is pure. :mod:`forms`, :mod:`page` and
:mod:`rst` show what came of it.
"""
