# SPDX-License-Identifier: Apache-2.0

"""May these results go to CNCF? The folder of a submission, and its rules.

:mod:`bundle` makes the folder ``v1.NN/product/`` out of an archive,
:mod:`check` reads such a folder and :mod:`rules` judges it, by the rules of
the bot that looks at every pull request of cncf/k8s-conformance
(kubernetes-sigs/verify-conformance, kodata/features and internal/suite at
86d380d8). What the bot only promises to look at is a warning here.
:mod:`publish` is for everybody else: what may be shown, without secrets.
"""
