# SPDX-License-Identifier: Apache-2.0

"""Do the addresses in PRODUCT.yaml lead to web pages? Asks them.

As the bot does (internal/plugin/plugin.go): a HEAD request to each,
redirects followed. Unlike the bot, certificates are checked: a page that a
browser warns of is worth a word before somebody else sees it.
"""

from magnum_capi_tempest.conformance.submission import product as products

#: Seconds for one address.
TIMEOUT = 20


def ask(product, get=None) -> dict[str, str]:
    """Content type of each address, empty where none came back.

    :param product: a :class:`~.product.Product`.
    :param get: "requests.head", or what is called like it.
    :returns: by name of the field; fields that are empty are left out.
    """
    # Its import takes as long as a whole check, which seldom asks.
    import requests
    get = get or requests.head
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
