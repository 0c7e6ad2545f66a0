# SPDX-License-Identifier: Apache-2.0
"""The names of operating systems that libosinfo knows.

The specification introduces ``magnum_distro`` because some values that Magnum
needs in ``os_distro`` are not libosinfo's, although Glance says that the
values of ``os_distro`` come from libosinfo
(doc/source/admin/useful-image-properties.rst of Glance).

To renew :data:`DISTROS`, take the texts of all ``<distro>`` elements below
``/usr/share/osinfo/os`` of a newer osinfo-db, sorted without regard to case,
each once.
"""

#: The osinfo-db that :data:`DISTROS` was read from.
VERSION = '20250606'

#: Values of <distro>.
DISTROS = frozenset('''
almalinux alpinelinux alt altlinux android-x86 anolis archlinux asianux caasp
centos circle cirros clearlinux debian dragonflybsd elementaryos eos eurolinux
fedora freebsd freedos freenix gentoo gnome guix-system haiku hyperbola mageia
mandrake mandriva Manjaro mbs mes miraclelinux msdos netbsd netware nixos oel
ol omnios openbsd openindiana opensolaris opensuse osx popos pureos rhel rhl
rocky scientificlinux slackware sle sled slem sles smartos solaris trisquel
ubuntu ucs voidlinux win winnt
'''.split())

#: Glance's documentation asks for these two where libosinfo says archlinux,
#: and win or winnt.
GLANCE = frozenset({'arch', 'windows'})


def known(distro: str) -> bool:
    """Whether libosinfo or Glance's documentation has it; case-sensitive."""
    return distro in DISTROS or distro in GLANCE
