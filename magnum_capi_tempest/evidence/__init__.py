# SPDX-License-Identifier: Apache-2.0

"""What was the state when it failed? Client libraries load when needed."""
