"""Which random worlds a run of the tests draws: the same ones in every `make test`, others in `make test-long SEEDS=n`.

A *property test* is one that draws: a hypothesis test, or one that is parametrised by `seeds`. `pytest --seed N` draws
other worlds for all of them; N = 0 (the default) is what `make test` runs, for everybody alike.
"""

from __future__ import annotations

import os

import pytest

SEED = int(os.environ.get("WAYFOLD_SEED", "0"))  # set by `pytest --seed` before any test is collected


def seeds(count, name="seed", found=()):
    """Parametrise a test by `count` seeds: 0 to count - 1, or as many others under ``--seed N``.

    `found` are seeds that once failed; every run draws them.
    """
    values = [*range(SEED * 1000, SEED * 1000 + count), *found]

    def decorate(function):
        return pytest.mark.property(pytest.mark.parametrize(name, values)(function))

    return decorate
