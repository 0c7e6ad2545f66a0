# SPDX-License-Identifier: Apache-2.0
"""Takes screenshots of pages, for the documentation.

The pages come from real runs::

    magnum-capi sandbox tempest --regex magnum_capi --results run
    magnum-capi report matrix */driver-report.json --html matrix.html
    python -m tools.screenshots run/report.html report.png
    python -m tools.screenshots matrix.html matrix.png

Each shows the top of a page in the light colour scheme. A Chromium must be on
PATH. The names are those of files in doc/source/images.
"""

import argparse
import pathlib

from tests.functional import chromium

IMAGES = pathlib.Path(__file__).parents[1] / 'doc' / 'source' / 'images'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('page', type=pathlib.Path)
    parser.add_argument('name')
    arguments = parser.parse_args()
    with chromium.Browser() as browser:
        browser.open(arguments.page.absolute(), width=chromium.DESKTOP)
        browser.screenshot(IMAGES / arguments.name, whole=False)


if __name__ == '__main__':
    main()
