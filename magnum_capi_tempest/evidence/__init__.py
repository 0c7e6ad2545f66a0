# SPDX-License-Identifier: Apache-2.0

"""The state at the time of a failure. Loads client libraries on demand."""
