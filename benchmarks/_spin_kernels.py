# mypy: ignore-errors
"""A loop that touches no memory: how much two threads do at best on a machine."""

import numpy as np

from wayfold.core.jit import kernel


@kernel
def spin(steps):
    """Draw `steps` numbers, one from the other; return the last."""
    number = np.uint64(1)
    for _ in range(steps):
        number = number * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        number ^= number >> np.uint64(17)
    return number
