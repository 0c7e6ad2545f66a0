# SPDX-License-Identifier: Apache-2.0
"""What does OpenStack offer, and what is left in it? Thin, with timeouts."""
