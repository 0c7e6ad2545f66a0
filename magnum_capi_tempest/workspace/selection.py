# SPDX-License-Identifier: Apache-2.0

"""What to test a cloud with, and Tempest's files for that. Pure.

Nothing is guessed: if there are several choices, an error lists them.
"""

import collections
import collections.abc
import dataclasses

import yaml

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest import promises

#: The least that a Cluster API driver needs for a node.
VCPUS, RAM = 2, 2048

#: Microversions that the suite knows.
OLDEST, NEWEST = '1.1', '1.14'

#: A promise of Magnum that is found out by trial.
KEEPS_DRIVER = 'magnum.template.keeps-driver'

#: Number of choices in an error.
_NAMED = 10


@dataclasses.dataclass(frozen=True)
class Account:
    """A user in a project, with their names in Keystone.

    :param roles: names of the roles that the token has.
    """

    cloud: str
    username: str
    password: str = dataclasses.field(repr=False)
    project: str
    user_domain: str
    project_domain: str
    roles: tuple[str, ...] = ()

    @property
    def admin(self) -> bool:
        return 'admin' in self.roles


@dataclasses.dataclass(frozen=True)
class Thing:
    """An image, network or flavor.

    :param properties: of an image: its properties; of a flavor: vcpus and
        ram (MiB).
    """

    id: str
    name: str
    properties: json_types.Object = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Cloud:
    """The cloud as its users see it.

    :param interface: of endpoints: public, internal or admin.
    :param verify: whether certificates are verified.
    :param cacert: path of a bundle, or empty.
    :param services: types in the catalog.
    :param networks: external ones.
    :param microversions: lowest and highest of Magnum.
    """

    auth_url: str
    region: str
    interface: str
    verify: bool
    cacert: str
    accounts: tuple[Account, ...]
    services: frozenset[str]
    images: tuple[Thing, ...]
    flavors: tuple[Thing, ...]
    networks: tuple[Thing, ...]
    microversions: tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Preferences:
    """What the user specifies; None: we choose.

    :param labels: of cluster templates.
    :param management_kubeconfig: absolute path; empty: none.
    :param options: additional or overriding options of [magnum_capi].
    :param of_driver: function that returns the options of [magnum_capi] for
        a driver, of which the others override some; None: it is not known.
    :param features: of [magnum_capi_feature_enabled].
    :param discovery_filter: the discovery filter is in front of Magnum.
    """

    image: str
    flavor: str | None = None
    master_flavor: str | None = None
    network: str | None = None
    network_driver: str = 'calico'
    driver: str = ''
    labels: tuple[tuple[str, str], ...] = ()
    upgrade_image: str | None = None
    management_kubeconfig: str = ''
    options: tuple[tuple[str, str], ...] = ()
    of_driver: collections.abc.Callable[
        [str], dict[str, str] | None] = lambda driver: None
    features: tuple[tuple[str, bool], ...] = ()
    discovery_filter: bool = False


@dataclasses.dataclass(frozen=True)
class Choice:
    """What to test with, and as which users.

    :param dynamic: whether Tempest creates users with the first account.
    :param preferred: what the user specified.
    :param heeds_template_driver: whether a Magnum before 23 behaves like 23,
        because of the discovery filter.
    :param stored_driver: the driver that Magnum gives a cluster template;
        empty: it does not say.
    """

    cloud: Cloud
    image: Thing
    flavor: Thing
    master_flavor: Thing
    network: Thing
    network_driver: str
    driver: str
    dynamic: bool
    workload_api: bool
    microversions: tuple[str, str]
    preferred: Preferences
    upgrade_image: Thing | None = None
    heeds_template_driver: bool = False
    stored_driver: str = ''

    @property
    def options(self) -> dict[str, str]:
        """Options of [magnum_capi] in tempest.conf."""
        said = self.preferred
        found = {
            'endpoint_type': self.cloud.interface,
            'image_id': self.image.id,
            'flavor_id': self.flavor.id,
            'master_flavor_id': self.master_flavor.id,
            'external_network': self.network.id,
            'network_driver': self.network_driver,
            'driver': self.driver,
            'labels': ','.join(f'{key}:{text}' for key, text in said.labels),
            'upgrade_image_id': (self.upgrade_image.id
                                 if self.upgrade_image else ''),
            'management_kubeconfig': said.management_kubeconfig,
        }
        found = {name: text for name, text in found.items() if text}
        of_driver = self._of_driver or {}
        found = of_driver | found | {'not_promised': ','.join(sorted(
            {*filter(None, of_driver.get('not_promised', '').split(',')),
             *self._not_of_magnum}))} | dict(said.options)
        # Its default is not empty.
        return {name: text for name, text in found.items()
                if text or name == 'not_promised'}

    @property
    def _not_of_magnum(self) -> set[str]:
        """Ids of what this Magnum does not promise, whatever the driver."""
        found = {*promises.not_of_magnum(
            self.cloud.microversions[1],
            filtered=self.preferred.discovery_filter)}
        if self.heeds_template_driver:
            found -= {KEEPS_DRIVER}
        return found

    def promises(self, name: str) -> bool:
        """Whether a promise is tested.

        :param name: its id.
        """
        return not promises.missing(
            name, self.options['not_promised'].split(','))

    @property
    def _tested(self) -> str:
        """The driver that is tested; empty: unknown."""
        return self.driver or self.stored_driver

    @property
    def _of_driver(self) -> dict[str, str] | None:
        """Options for the driver that is tested; None: they are not known."""
        return self.preferred.of_driver(self._tested)

    @property
    def features(self) -> dict[str, bool]:
        """Options of [magnum_capi_feature_enabled] in tempest.conf."""
        return {'workload_api': self.workload_api} | dict(
            self.preferred.features)

    @property
    def workers(self) -> int | None:
        """How many tests may run at once; None: any number."""
        return None if self.dynamic else most_workers(
            account.roles for account in self.cloud.accounts)

    def _chosen(self) -> str:
        return 'as Magnum chooses' + (
            f': {self.stored_driver}' if self.stored_driver else '')

    def notes(self) -> list[str]:
        """Lines that describe the choices."""
        cloud = self.cloud
        found = [
            f'Keystone {cloud.auth_url}, region {cloud.region or "any"}',
            f'image {_said(self.image)}, flavor {_said(self.flavor)}, '
            f'control plane {_said(self.master_flavor)}',
            f'external network {_said(self.network)}, network driver '
            f'{self.network_driver}',
            f'driver {self.driver or self._chosen()}, microversions '
            f'{" to ".join(self.microversions)}',
        ]
        if self.driver and self.stored_driver != self.driver:
            found.append(f'whether Magnum has the driver {self.driver} is not '
                         'known before a cluster is created')
        if self._of_driver is None:
            found.append(
                (f'no description of the driver {self._tested} is installed '
                 'here' if self._tested else 'Magnum does not name the driver')
                + ': what it does not promise is tested, too, unless --option '
                'not_promised=... names it')
        else:
            found.append('what this driver is known not to do is not tested '
                         '([magnum_capi] not_promised); --option '
                         'not_promised= tests it')
        if not self.preferred.discovery_filter:
            found.append('what an unmodified Magnum does not promise about '
                         'the discovery of drivers is not tested; '
                         '--discovery-filter tests it')
        if self.upgrade_image:
            found.append(f'upgrades to image {_said(self.upgrade_image)}')
        if self.dynamic:
            found.append(
                f'the user {cloud.accounts[0].username} is an administrator: '
                'Tempest creates the users it needs, and deletes them')
        else:
            found.append('the users in clouds.yaml are used; tests that need '
                         'an administrator or a second user are skipped if '
                         f'there is none, and --concurrency {self.workers} '
                         'is the highest')
        if not self.promises(KEEPS_DRIVER):
            found.append('this Magnum is older than 23: the driver of a '
                         'cluster template is the property magnum_driver of '
                         'its image, or set by an update')
        if not self.workload_api:
            found.append('the package kubernetes is not installed: nodes are '
                         'not checked (pip install kubernetes)')
        return found


def most_workers(accounts: collections.abc.Iterable[tuple[str, ...]]) -> int:
    """Return how many tests may run at once as existing users.

    A class of tests may need an administrator besides its user; without any
    administrator, such classes are skipped.

    :param accounts: names of the roles of each user.
    """
    count = collections.Counter(map(_persona, accounts))
    return max(1, min(count['member'], count['admin'] or count['member']))


def _persona(roles: collections.abc.Sequence[str]) -> str | None:
    """What Tempest takes a user for; an administrator is no member."""
    return next((role for role in ('admin', 'member') if role in roles), None)


def choose(cloud: Cloud, preferred: Preferences, *, workload_api: bool = True,
           static: bool = False) -> Choice:
    """Choose what to test with.

    :param workload_api: whether the tests can check nodes.
    :param static: never create users.
    :raises UsageError: something does not exist, or is not unique.
    """
    image = _one(cloud.images, preferred.image, 'image', '--image')
    if not image.properties.get('os_distro') and not image.properties.get(
            'magnum_distro'):
        raise errors.UsageError(
            f'The image {image.name} lacks the property os_distro, which '
            'Magnum requires', where=image.id,
            hint='Set it with: openstack image set --property '
                 f'os_distro=ubuntu {image.id}')
    fit = tuple(flavor for flavor in cloud.flavors
                if flavor.properties.get('vcpus', 0) >= VCPUS
                and flavor.properties.get('ram', 0) >= RAM)
    flavor = (_one(cloud.flavors, preferred.flavor, 'flavor', '--flavor')
              if preferred.flavor else
              _only(fit, f'flavor with {VCPUS} vCPU and {RAM} MiB',
                    '--flavor'))
    master = (_one(cloud.flavors, preferred.master_flavor, 'flavor',
                   '--master-flavor') if preferred.master_flavor else flavor)
    later = preferred.upgrade_image and _one(
        cloud.images, preferred.upgrade_image, 'image', '--upgrade-image')
    _check_labels(preferred.labels)
    first = cloud.accounts[0]
    # tempest.conf has one name for the domains of user and project.
    dynamic = (first.admin and first.user_domain == first.project_domain
               and not static)
    if not dynamic and not any(_persona(account.roles) == 'member'
                               for account in cloud.accounts):
        raise errors.UsageError(
            'Tempest needs a user with the role member who is not an '
            'administrator', where=', '.join(
                account.cloud for account in cloud.accounts),
            hint='Name one with another --cloud')
    network = (_one(cloud.networks, preferred.network, 'external network',
                    '--external-network') if preferred.network else
               _only(cloud.networks, 'external network',
                     '--external-network'))
    return Choice(
        cloud, image, flavor, master, network, preferred.network_driver,
        preferred.driver, dynamic, workload_api,
        _between(cloud.microversions), preferred, later or None)


def _check_labels(labels: collections.abc.Sequence[tuple[str, str]]) -> None:
    for key, text in labels:
        if ',' in text or ',' in key or ':' in key:
            raise errors.UsageError(
                'tempest.conf cannot hold a label with a comma, or with a '
                'colon in its name', where=f'{key}={text}')


def _one(things: collections.abc.Sequence[Thing], wanted: str, kind: str,
         option: str) -> Thing:
    found = ([thing for thing in things if thing.id == wanted]
             or [thing for thing in things if thing.name == wanted])
    if len(found) == 1:
        return found[0]
    if found:
        raise errors.UsageError(
            f'There is more than one {kind} with the name {wanted} '
            f'({len(found)})',
            hint=f'Pass the ID of one to {option}: '
            + ', '.join(thing.id for thing in found))
    raise errors.UsageError(
        f'There is no {kind} {wanted}, or this user cannot see it',
        hint=_choices(things))


def _only(things: collections.abc.Sequence[Thing], kind: str, option: str
          ) -> Thing:
    if len(things) == 1:
        return things[0]
    if not things:
        raise errors.UsageError(
            f'There is no {kind}',
            hint=f'Create one, or name one with {option}')
    raise errors.UsageError(f'There is more than one {kind} ({len(things)})',
                            hint=f'Name one with {option}. {_choices(things)}')


def _choices(things: collections.abc.Sequence[Thing]) -> str:
    names = sorted(thing.name or thing.id for thing in things)
    more = len(names) - _NAMED
    return ('Choose from: ' + ', '.join(names[:_NAMED])
            + (f' and {more} more' if more > 0 else '')
            if names else 'There are none')


def _between(versions: tuple[str, str]) -> tuple[str, str]:
    """Microversions that both the suite and this Magnum support."""
    lowest = max(versions[0], OLDEST, key=promises.number)
    highest = min(versions[1], NEWEST, key=promises.number)
    if promises.number(lowest) > promises.number(highest):
        raise errors.UsageError(
            'This Magnum supports none of the microversions that the tests '
            'know',
            last_seen=' to '.join(versions), hint=f'The tests know {OLDEST} '
            f'to {NEWEST}')
    return lowest, highest


def _said(thing: Thing) -> str:
    return thing.name or thing.id


def accounts(choice: Choice) -> str | None:
    """Text of accounts.yaml; None when Tempest makes its users itself."""
    if choice.dynamic:
        return None
    return str(yaml.safe_dump([{
        'username': account.username, 'password': account.password,
        'project_name': account.project,
        'user_domain_name': account.user_domain,
        'project_domain_name': account.project_domain,
        **({'types': ['admin']} if account.admin
           else {'roles': list(account.roles)}),
    } for account in choice.cloud.accounts], sort_keys=False))


def value(text: object) -> str:
    """Escape a text so that oslo.config reads it back from a file.

    :raises UsageError: a file cannot hold it.
    """
    found = str(text)
    if not found.isprintable() or r'\$' in found:
        raise errors.UsageError(
            r'A name or password contains "\$", a line break or another '
            'unprintable character, which tempest.conf cannot hold')
    # "$" starts a reference to another option; a pair of quotes is dropped.
    found = found.replace('$', '$$')
    return f'"{found}"' if found != found.strip(' \'"') else found
