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

"""Do the addresses in PRODUCT.yaml lead to web pages? Asks them.

As the bot does (internal/plugin/plugin.go): a HEAD request to each,
redirects followed. Unlike the bot, certificates are checked: a page that a
browser warns of is worth a word before somebody else sees it.
"""

import requests

from magnum_capi_tempest.conformance.submission import product as products

#: Seconds for one address.
TIMEOUT = 20


def ask(product, get=requests.head) -> dict[str, str]:
    """Content type of each address, empty where none came back.

    :param product: a :class:`~.product.Product`.
    :returns: by name of the field; fields that are empty are left out.
    """
    found = {}
    for name in products.PAGES:
        url = product.value(name)
        if url and not products.url_problem(url):
            try:
                answer = get(url, timeout=TIMEOUT, allow_redirects=True)
                found[name] = answer.headers.get('Content-Type', '')
            except requests.RequestException:
                found[name] = ''
    return found
