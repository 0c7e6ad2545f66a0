# SPDX-License-Identifier: Apache-2.0

"""Can these results be submitted to CNCF? The folder, and its rules.

:mod:`build` creates the folder ``v1.NN/product/`` from an archive,
:mod:`check` reads such a folder and :mod:`rules` judges it, by the rules of
the bot that checks every pull request of cncf/k8s-conformance
(kubernetes-sigs/verify-conformance, kodata/features and internal/suite at
86d380d8). Rules that the bot announces but does not enforce are warnings here.
:mod:`publish` is for everyone else: results without secrets.
"""
