# SPDX-License-Identifier: Apache-2.0

"""Reads the times that Kubernetes writes."""

import datetime


def parse(text: str) -> datetime.datetime:
    """Return a time in RFC 3339 as an aware datetime.

    Python reads the Z that Kubernetes ends them with since 3.11 only.

    :raises ValueError: it is none.
    """
    return datetime.datetime.fromisoformat(
        f'{text[:-1]}+00:00' if text.endswith('Z') else text)
