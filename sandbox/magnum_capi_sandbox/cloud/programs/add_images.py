# SPDX-License-Identifier: Apache-2.0

"""Create the images that a running cloud does not have yet.

Reads the document of cloud.seed from standard input, prints the ids of its
images by name as JSON. Runs in the environment of the cloud, like seed.py.
"""

import json
import sys

import seed


def main():
    wanted = json.load(sys.stdin)
    cloud = seed.connect(wanted)
    there = {image.name: image.id for image in cloud.image.images()}
    missing = {name: properties
               for name, properties in wanted['images'].items()
               if name not in there}
    print(json.dumps({name: there[name] for name in wanted['images']
                      if name in there} | seed.images(cloud, missing)))


if __name__ == '__main__':
    main()
