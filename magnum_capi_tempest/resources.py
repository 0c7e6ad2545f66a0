# SPDX-License-Identifier: Apache-2.0

"""Files of this project that are not Python: charts, Go sources, constraints.

In a checkout (or an editable install) they are where git has them; a wheel
installs them as data files in ``share/magnum-capi-tempest``.
"""

import pathlib
import sys

from magnum_capi import errors


def find(relative: str) -> pathlib.Path:
    """Absolute path of a project file or folder.

    :param relative: path from the top of the repository, ``charts/x``.
    :raises EnvironmentProblem: the installation lacks it.
    """
    checkout = pathlib.Path(__file__).resolve().parent.parent
    share = pathlib.Path(sys.prefix) / 'share' / 'magnum-capi-tempest'
    for base in (checkout, share):
        if (base / relative).exists():
            return base / relative
    raise errors.EnvironmentProblem(
        f'This installation lacks {relative}', where=f'{checkout}, {share}',
        hint='Install magnum-capi-tempest again, from a checkout with '
             '"pip install -e ."')
