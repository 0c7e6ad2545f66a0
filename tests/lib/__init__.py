# SPDX-License-Identifier: Apache-2.0

"""Stand-ins for what the library talks to, each compared with the real one.

The comparisons are in tests/functional/lib. A stand-in stands outside of the
library: it answers HTTP, it is a program, or it is Magnum. So it serves any
implementation.
"""
