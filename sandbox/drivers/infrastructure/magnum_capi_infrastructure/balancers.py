# SPDX-License-Identifier: Apache-2.0
"""Provider driver of Octavia: every load balancer becomes ACTIVE.

It stands in for two providers, and refuses what each of them would.

Octavia calls a driver before it commits the request. So a thread searches
Octavia's database for PENDING objects and settles them, with the code that
Octavia's driver agent uses for the statuses of any provider's driver. What a
killed API left PENDING is settled after its next start.

If there is a machine service that forwards packets, it learns what a load
balancer forwards before a client sees that it is ACTIVE.
"""

import threading

from octavia.api.drivers.driver_agent import driver_updater
from octavia.common import constants
from octavia.db import api as db_api
from octavia.db import models
from octavia_lib.api.drivers import exceptions
from octavia_lib.api.drivers import provider_base
from oslo_config import cfg
from oslo_log import log as logging

from magnum_capi_infrastructure import machines
from magnum_capi_infrastructure import network

LOG = logging.getLogger(__name__)
CONF = cfg.CONF
CONF.register_opts([
    cfg.StrOpt('machines', help='Socket of a machine service that forwards.'),
], group='sandbox')

#: Seconds between two checks: while something may be pending, and otherwise.
SOON, LATER = 0.1, 2

#: Checks after a call, during which its transaction is committed.
LOOKS = 30

#: Models and their names in a status, parts before the load balancer.
PARTS = ((models.Member, constants.MEMBERS),
         (models.HealthMonitor, constants.HEALTHMONITORS),
         (models.L7Rule, constants.L7RULES),
         (models.L7Policy, constants.L7POLICIES),
         (models.Pool, constants.POOLS),
         (models.Listener, constants.LISTENERS),
         (models.LoadBalancer, constants.LOADBALANCERS))

PENDING = (constants.PENDING_CREATE, constants.PENDING_UPDATE,
           constants.PENDING_DELETE)


def settled(row, name):
    """The status of a part that was pending; pure."""
    if row.provisioning_status == constants.PENDING_DELETE:
        return {'id': row.id, constants.PROVISIONING_STATUS:
                constants.DELETED}
    state = constants.ONLINE
    if not row.enabled:
        state = constants.OFFLINE
    elif name == constants.MEMBERS and not row.pool.health_monitor:
        state = constants.NO_MONITOR
    return {'id': row.id, constants.PROVISIONING_STATUS: constants.ACTIVE,
            constants.OPERATING_STATUS: state}


def pending():
    """Statuses for pending objects: lists by name."""
    found = {}
    with db_api.get_session().begin() as transaction:
        session = transaction.session
        doomed = {lb.id for lb in session.query(models.LoadBalancer).filter_by(
            provisioning_status=constants.PENDING_DELETE)}
        for model, name in PARTS:
            rows = session.query(model).filter(
                model.provisioning_status.in_(PENDING))
            if rows.count():
                found[name] = [settled(row, name) for row in rows]
        for lb_id in doomed:
            _cascade(session, lb_id, found)
    return found


def _cascade(session, lb_id, found):
    """A load balancer is deleted with all its parts."""
    for model, name in ((models.Listener, constants.LISTENERS),
                        (models.Pool, constants.POOLS)):
        for row in session.query(model).filter_by(load_balancer_id=lb_id):
            there = {s['id'] for s in found.setdefault(name, [])}
            if row.id not in there:
                found[name].append({'id': row.id,
                                    constants.PROVISIONING_STATUS:
                                    constants.DELETED})


def forwarded(ids=None):
    """What load balancers forward by their id; None for one that is to go.

    :param ids: of load balancers, or None for all.
    """
    with db_api.get_session().begin() as transaction:
        rows = transaction.session.query(models.LoadBalancer).filter(
            models.LoadBalancer.provisioning_status != constants.DELETED)
        if ids is not None:
            rows = rows.filter(models.LoadBalancer.id.in_(ids))
        return {row.id: None if row.provisioning_status
                == constants.PENDING_DELETE else network.balancer(row)
                for row in rows}


class _Settler(threading.Thread):
    def __init__(self):
        super().__init__(name='settler', daemon=True)
        self._called = threading.Event()
        self._balancers = CONF.sandbox.machines and network.Balancers(
            machines.Machines(CONF.sandbox.machines, 1), forwarded)

    def call(self):
        self._called.set()

    def _settle(self):
        statuses = pending()
        if self._balancers:
            # Nobody else changes a load balancer that is pending.
            changed = statuses.get(constants.LOADBALANCERS, [])
            refused = self._balancers.tell(s['id'] for s in changed)
            if changed:
                statuses[constants.LOADBALANCERS] = [
                    s for s in changed if s['id'] not in refused]
        if statuses:
            # A new one each time, as in Octavia's driver agent: after an error
            # of the database its session is useless.
            updater = driver_updater.DriverUpdater()
            answer = updater.update_loadbalancer_status(statuses)
            if answer[constants.STATUS_CODE] != 200:
                LOG.warning('Not settled: %s', answer)

    def run(self):
        looks = LOOKS
        while True:
            try:
                self._settle()
            except machines.Unreachable as e:
                LOG.warning('Nothing is settled: %s', e)
            except Exception:
                # The next check retries: the database may be busy.
                LOG.exception('Cannot settle what is pending')
            looks -= 1
            if self._called.wait(SOON if looks > 0 else LATER):
                self._called.clear()
                looks = LOOKS


_LOCK = threading.Lock()
_SETTLERS = []


def _settler():
    """This process's settler: Octavia makes a driver for every request."""
    with _LOCK:
        if not _SETTLERS:
            _SETTLERS.append(_Settler())
            _SETTLERS[0].start()
        return _SETTLERS[0]


class ProviderDriver(provider_base.ProviderDriver):
    """Accepts what a provider would; :class:`_Settler` does the rest.

    Octavia sets ``name`` to that of the provider.
    """

    def __init__(self):
        super().__init__()
        self._settler = _settler()

    def _call(self, *_arguments, **_options):
        self._settler.call()

    def _take(self, *parts, **_options):
        *_, part = parts  # an update has the old one, too
        # A load balancer may come with all its parts.
        for each in (part, *_given(part, 'listeners'),
                     *_given(part, 'pools')):
            reason = network.refusal(self.name, each)
            if reason:
                raise exceptions.UnsupportedOptionError(
                    user_fault_string=reason, operator_fault_string=reason)
        self._call()

    def _take_not_ovn(self, *_arguments, **_options):
        if self.name == 'ovn':
            raise NotImplementedError
        self._call()

    def create_vip_port(self, loadbalancer_id, project_id, vip_dictionary,
                        additional_vip_dicts=None):
        # Then Octavia makes the port itself.
        raise NotImplementedError

    def get_supported_flavor_metadata(self):
        return {}

    def get_supported_availability_zone_metadata(self):
        return {}


def _given(part, name):
    """The parts of a load balancer under a name, if there are any."""
    found = getattr(part, name, None)
    return found if isinstance(found, list) else ()


_VERBS = 'create', 'update', 'delete'

for _name in (
        *(f'{kind}_{verb}' for kind in (
            'loadbalancer', 'listener', 'pool', 'member', 'health_monitor')
            for verb in _VERBS), 'member_batch_update'):
    setattr(ProviderDriver, _name, ProviderDriver._call if _name.endswith(
        '_delete') else ProviderDriver._take)
for _name in (*(f'{kind}_{verb}' for kind in ('l7policy', 'l7rule')
                for verb in _VERBS), 'loadbalancer_failover'):
    setattr(ProviderDriver, _name, ProviderDriver._take_not_ovn)
