# SPDX-License-Identifier: Apache-2.0

"""Files of this project that are not Python: charts, drivers, patches.

In a checkout (or an editable install) they are where git has them; wheels
install them as data files in ``share/magnum-capi``, with the same paths, in
the environment or, with ``pip install --user``, in ``~/.local``.
"""

import pathlib
import site
import sys

from magnum_capi import errors


def find(relative: str) -> pathlib.Path:
    """Absolute path of a project file or folder.

    :param relative: path from the top of the repository, ``drivers/x``.
    :raises EnvironmentProblem: the installation lacks it.
    """
    checkout = pathlib.Path(__file__).resolve().parent.parent
    share, own = (pathlib.Path(prefix, 'share', 'magnum-capi')
                  for prefix in (sys.prefix, site.getuserbase()))
    for base in (checkout, share, own):
        if (base / relative).exists():
            return base / relative
    folder = './sandbox' if relative.startswith('sandbox/') else '.'
    raise errors.EnvironmentProblem(
        f'This installation lacks {relative}', where=f'{checkout}, {share}',
        hint=f'In a checkout of the repository: '
             f'pip install --force-reinstall --no-deps {folder}')
