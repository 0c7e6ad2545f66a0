# SPDX-License-Identifier: Apache-2.0

"""Do the URLs in PRODUCT.yaml lead to web pages? Requests them.

Like the bot (internal/plugin/plugin.go), it sends HEAD to each and follows
redirects. Unlike the bot, it verifies certificates: a page that makes browsers
warn should be reported before others see it.
"""

from magnum_capi_tempest.conformance.submission import product as products

#: Timeout of one request, in seconds.
TIMEOUT = 20


def ask(product, get=None) -> dict[str, str]:
    """Content type of each URL, empty if there was no answer.

    :param product: a :class:`~.product.Product`.
    :param get: "requests.head", or a function with the same parameters.
    :returns: by name of the field; empty fields are omitted.
    """
    # The import takes as long as a whole check, which seldom needs it.
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
