# SPDX-License-Identifier: Apache-2.0

"""Names for the types of JSON documents, whose fields others define."""

import typing

#: An object of a Kubernetes API, or another document with named fields.
Object: typing.TypeAlias = dict[str, typing.Any]
