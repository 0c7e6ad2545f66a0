# SPDX-License-Identifier: Apache-2.0
"""Secrets that are recognized by their form, whatever is before them."""

import re

from magnum_capi_tempest.redact import names

_BASE64 = 'A-Za-z0-9+/'

#: (kind, pattern). Group "keep" stays, the rest is removed, from group "start"
#: on. Most begin with something rare, because that is fast to find.
RULES = tuple((kind, re.compile(pattern)) for kind, pattern in (
    # PEM blocks with real or escaped line ends (JSON); if one is cut off,
    # everything that may belong to it.
    (names.PRIVATE_KEY,
     r'-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
     r'(?:[^-]*+(?:-(?!----)[^-]*+){0,64}-----END [A-Z0-9 ]{0,40}'
     r'PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\\\s]*+)'),
    (names.BEARER,
     r'(?P<keep>[Bb]earer(?<![\w.-][Bb]earer)[ \t]{1,64}+)'
     r'[A-Za-z0-9._~+/-]{20,}+={0,2}'),
    # Fernet tokens of Keystone, JSON web tokens of service accounts, and
    # bootstrap tokens of kubeadm, anywhere. (The name of an Event,
    # "pod-abc123.17f3...", is not one: it has a longer prefix.)
    (names.BEARER, r'gAAAAA(?<!\wgAAAAA)[A-Za-z0-9_-]{40,}+={0,2}'),
    (names.BEARER, r'eyJ(?<![\w-]eyJ)[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+'
                   r'\.[A-Za-z0-9_-]*+'),
    (names.BOOTSTRAP,
     r'\.(?<=(?<![\w.-])(?P<start>[a-z0-9]{6})\.)[a-z0-9]{16}(?![\w-])'),
    # user:password@host (a port and a path before "@" are an image with its
    # digest), and a token in the place of the user
    (names.URL,
     r'''(?P<keep>://[^/\s:@"'<>]{0,256}+:)(?!\d{1,5}/)'''
     r'''[^\s@"'<>]{1,256}+(?:@[^\s@/"'<>]{1,256}+(?=@)){0,8}(?=@)'''),
    (names.URL, r'''(?P<keep>://)[^/\s:@"'<>]{20,256}+(?=@)'''),
    # Docker's "auth": "<base64 of user:password>"
    (names.REGISTRY,
     r'''(?P<keep>auth(?<![\w.-]auth)(?:\\{0,7}["'])[ \t]{0,16}+:'''
     rf'''[ \t]{{0,64}}+\\{{0,7}}["'])[{_BASE64}]{{4,}}+={{0,2}}'''
     r'''(?=\\{0,7}["'])'''),
    (names.PASSWORD,
     r'''(?P<keep>(?:IDENTIFIED|identified) (?:BY|by) (?:PASSWORD )?')'''
     r'''(?=[^'\n]|'')[^'\\\n]*+(?:(?:\\.|'')[^'\\\n]*+){0,64}'''),
))
