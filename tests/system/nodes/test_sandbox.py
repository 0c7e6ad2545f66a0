# SPDX-License-Identifier: Apache-2.0

"""Clusters of real nodes through Magnum, with both drivers.

Needs root, containers, and the image archives of ``tools/offline/images.sh
build``; takes minutes for each driver.
"""

import os
import unittest

import fixtures

import requests

from magnum_capi import progress
from magnum_capi_sandbox import infrastructure as infrastructures
from magnum_capi_sandbox import machines
from magnum_capi_sandbox import nodes
from magnum_capi_tempest import dockers
from magnum_capi_tempest.management import installation
from magnum_capi_tempest import resources
from tests.functional import boxes
from tests.system.nodes import real_nodes


def problem():
    """Why these tests cannot run here, None if they can."""
    if not os.environ.get('MAGNUM_CAPI_LONG'):
        return 'MAGNUM_CAPI_LONG is not set'
    return real_nodes.problem()


class ElsewhereTest(boxes.TestCase):
    """The error on a host without Docker."""

    def test_one_line_and_nothing_made(self):
        self.useFixture(fixtures.EnvironmentVariable(
            'DOCKER_HOST', 'unix:///nowhere/docker.sock'))
        box = self.box()
        line = self.assert_one_line(3, box.call('up', '--nodes', 'docker'))
        self.assertIn('Docker does not answer', line)
        self.assertFalse(box.directory.exists())


class NodesTest(boxes.TestCase):

    infrastructure = infrastructures.MEMORY
    management = 'processes'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        found = problem()
        if found:
            raise unittest.SkipTest(found)
        cls.shared = boxes.shared(
            cls, '--nodes', 'docker', '--infrastructure', cls.infrastructure,
            '--management', cls.management,
            '--install', str(resources.find('drivers/k8s_capi_v1')),
            timeout=900)
        cls.say = progress.Progress()
        cls.cloud = real_nodes.Cloud(cls.shared.sandbox, cls.say)
        cls.versions = cls.cloud.made_of.kubernetes

    def life(self, driver):
        """From the first node to none, from a user's view."""
        step = self.say.step
        template = self.cloud.template(driver, self.versions[0])
        with step(f'{driver}: create 1 + 1'):
            cluster = self.cloud.create(template)
            cluster.wait('CREATE_COMPLETE')
        with step(f'{driver}: nodes Ready'):
            found = cluster.wait_nodes(2, self.versions[0])
        stack = cluster.stack()
        self.assertEqual({*found, *self.balancers(stack)},
                         {*self.cloud.containers(stack)})
        with step(f'{driver}: pods talk'):
            cluster.serve()
            self.assert_all_talk(cluster, 2)

        with step(f'{driver}: one more worker'):
            cluster.resize(2)
            cluster.wait_nodes(3)
            cluster.wait('UPDATE_COMPLETE')
        cluster.serve()
        self.assert_all_talk(cluster, 3)

        if len(self.versions) > 1:
            template = self.cloud.template(driver, self.versions[1])
            with step(f'{driver}: {self.versions[1]}'):
                cluster.upgrade(template)
                cluster.wait_nodes(3, self.versions[1])
                cluster.wait('UPDATE_COMPLETE')
            cluster.serve()
            self.assert_all_talk(cluster, 3)

        with step(f'{driver}: delete'):
            cluster.delete()
        self.assertEqual([], self.cloud.containers(stack))

    def balancers(self, stack):
        """Containers of a cluster that are no nodes."""
        return [f'{stack}-lb']

    def assert_all_talk(self, cluster, count):
        told = cluster.conversations()
        self.assertEqual(count * (count + 1), len(told))
        for pair, answer in told.items():
            self.assertTrue(answer.startswith('servers-'), (pair, answer))

    def test_magnum_capi_helm(self):
        self.life('k8s_capi_helm_v1')

    def test_k8s_capi_v1(self):
        self.life('k8s_capi_v1')


class ServersTest(NodesTest):
    """The nodes are servers of Nova."""

    infrastructure = infrastructures.OPENSTACK

    def balancers(self, stack):
        return []

    def test_a_cluster_survives_the_machine_service(self):
        template = self.cloud.template('k8s_capi_v1', self.versions[0],
                                       name='survivor')
        cluster = self.cloud.create(template, 'survivor')
        cluster.wait('CREATE_COMPLETE')
        cluster.serve()
        url = cluster.expose()
        self.assertIn('servers-', real_nodes.answer(url))
        self.shared.kill('capi')
        self.assert_done(self.shared.call('up', timeout=900))
        cluster.wait_nodes(2)
        self.assert_all_talk(cluster, 2)
        self.assertIn('servers-', real_nodes.answer(url))
        cluster.hide()
        self.assertRaises(requests.RequestException, real_nodes.answer, url)
        cluster.delete()


class PodsTest(ServersTest):
    """The same, and Cluster API is in pods."""

    management = 'minikube'

    @classmethod
    def setUpClass(cls):
        if not os.environ.get(installation.OFFLINE):
            raise unittest.SkipTest(
                f'{installation.OFFLINE} of tools/offline/minikube.sh is not '
                'set')
        super().setUpClass()


class EndTest(boxes.TestCase):
    """Nothing is left of a sandbox with real nodes."""

    def setUp(self):
        super().setUp()
        found = problem()
        if found:
            self.skipTest(found)

    def test_nothing_is_left_after_a_kill(self):
        box = self.box()
        self.assert_done(box.call('up', '--nodes', 'docker', timeout=900))
        docker, owner = dockers.find(), machines.owner(box.directory)
        image = docker.run('image', 'ls', '--quiet', nodes.REPOSITORY)
        docker.run('run', '--detach', '--label', f'{dockers.OWNER}={owner}',
                   '--network', 'none', '--privileged', image.split()[0])
        box.kill('capi')
        self.assert_done(box.down())
        self.assert_nothing_left(box)
        self.assertEqual([], docker.containers(owner))
