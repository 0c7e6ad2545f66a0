# SPDX-License-Identifier: Apache-2.0
"""WHICH driver serves a cluster template?

The improve-driver-discovery specification of Magnum
(https://specs.openstack.org/openstack/magnum-specs/) as a library: pure
decisions (:mod:`.model`, :mod:`.resolve`, :mod:`.audit`), what is installed
(:mod:`.catalog`), and a paste filter that makes the decisions effective in
an unmodified Magnum (:mod:`.filter`).
"""
