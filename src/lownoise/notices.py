# SPDX-License-Identifier: Apache-2.0
"""What a user must hear though nothing is refused: one line each."""


class ReadingNotice(UserWarning):
    """A first spend is about to fix the reading of an account, which nobody named."""
