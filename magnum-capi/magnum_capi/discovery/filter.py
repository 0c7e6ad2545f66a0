# SPDX-License-Identifier: Apache-2.0
"""Makes the decisions about drivers effective in an unmodified Magnum 23.

A paste filter for Magnum's API. Enable it in api-paste.ini::

    [pipeline:api]
    pipeline = cors http_proxy_to_wsgi request_id osprofiler authtoken
        driver_discovery api_v1

    [filter:driver_discovery]
    paste.filter_factory = magnum_capi.discovery.filter:factory

It must come after authtoken, and nothing after it should change requests.

What it does:

* template create: reads the image as the user, with the session of Magnum's
  own clients, and decides. The template gets that driver and, if
  ``magnum_distro`` is set, that distro, or is not created;
* template update: decides again if a relevant field changes. Removing
  ``/driver`` means to choose again;
* cluster create: the template's driver must be usable and provide its type;
* cluster upgrade: a template of another driver is refused.

Errors have Magnum's format and status 400, or another status if the image
could not be read (401, 502, 503), if something was changed concurrently (409),
or if the request is not spelled as documented (400, 404, 405, 413, 415). The
filter fails closed: an error of its own is a 500.

What a filter cannot do:

* accept an image without any ``os_distro``: Magnum requires one;
* have a cluster accepted if a beta driver that is not enabled was loaded last
  for its type: Magnum refuses it, even if the template names another driver;
* have the number of masters checked by the template's driver: Magnum asks the
  driver that was loaded last for the type;
* prevent that a driver which fails to load breaks Magnum itself. The audit
  reports these four;
* prevent changes between check and use of an image, or of a template that is
  not in use yet. Names are replaced by uuids, what was stored is compared
  with the decision, and a cluster is checked again, but Magnum has no locks;
* see drivers that are installed, or options that change, while the process
  runs; Magnum does not either.
"""

import collections.abc
import http
import logging
import typing

from oslo_config import cfg
import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import catalog as catalog_
from magnum_capi.discovery import checks
from magnum_capi.discovery import magnum
from magnum_capi.discovery import model
from magnum_capi.discovery import routes

LOG = logging.getLogger(__name__)

_CHECKS: dict[str, collections.abc.Callable[
    [checks.Exchange], webob.Response]] = {
    'template create': checks.create_template,
    'template update': checks.update_template,
    'cluster create': checks.create_cluster,
    'cluster upgrade': checks.upgrade_cluster,
}


class Filter:
    """The WSGI application in front of Magnum's; threads share it.

    :param app: Magnum's API.
    :param calls: makes the calls into Magnum for one request.
    """

    def __init__(self, app: checks.Application, catalog: model.Catalog,
                 calls: collections.abc.Callable[
                     [magnum.Environ], magnum.Magnum] = magnum.Magnum,
                 ) -> None:
        self._app = app
        self._catalog = catalog
        self._calls = calls

    def __call__(self, environ: dict[str, typing.Any],
                 start_response: collections.abc.Callable[..., typing.Any],
                 ) -> collections.abc.Iterable[bytes]:
        answer: checks.Application
        request = webob.Request(environ)
        request_id = environ.get('openstack.request_id', '')
        what, exchange = 'request', None
        try:
            route = routes.route(request)
            if route is None:
                answer = self._app
            else:
                what = route.what
                exchange = checks.Exchange(
                    request, route, routes.body(request, route.kind),
                    self._catalog, self._calls(environ), self._app)
                checked = _CHECKS[what](exchange)
                _log(what, request_id, exchange,
                     f'answered {checked.status_int}')
                answer = checked
        except answers.Refused as e:
            _log(what, request_id, exchange,
                 f'refused with {e.status}: {e.what}')
            answer = answers.error(e.status, e.what, request_id)
        # No error may let a request pass unchecked.
        except Exception:
            LOG.exception('The filter failed, the request is refused (%s)',
                          request_id)
            answer = answers.error(
                http.HTTPStatus.INTERNAL_SERVER_ERROR,
                'The choice of a driver failed. Ask the operator of this '
                'cloud, and give the request id.', request_id)
        return answer(environ, start_response)


def _log(what: str, request_id: str, exchange: checks.Exchange | None,
         outcome: str) -> None:
    """Log one line; values of users are quoted, so they cannot forge one.

    :param exchange: None: the request was refused before it was read.
    """
    if exchange is None:
        LOG.info('%s %s: %s', what, model.shown(request_id), outcome)
        return
    log = LOG.warning if exchange.by_name else LOG.info
    log('%s %s, template %s: %s; %s', what, model.shown(request_id),
        model.shown(exchange.named),
        ', then '.join(exchange.decisions) or 'no decision', outcome)


def factory(global_conf: collections.abc.Mapping[str, str],
            ) -> collections.abc.Callable[[checks.Application], Filter]:
    """A paste.filter_factory; Magnum must have set up oslo.config.

    :raises UsageError: Magnum's configuration has a value that cannot be
        used.
    """
    # Not later: with several workers, the program magnum-api forks for every
    # request, and each child would load the drivers.
    catalog = catalog_.load(catalog_.policy(cfg.CONF))
    return lambda app: Filter(app, catalog)
