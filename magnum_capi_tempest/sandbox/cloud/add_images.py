# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Makes images in the cloud that runs, those that it has not yet.

Reads the document of sandbox.seed from standard input, prints the ids of its
images by name as JSON. Runs in the environment of the cloud, as seed.py does.
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
