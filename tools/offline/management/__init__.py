# SPDX-License-Identifier: Apache-2.0

"""What a management cluster in minikube needs where no release can be had."""
