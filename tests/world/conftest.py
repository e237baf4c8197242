"""Worlds that several files of tests use."""

import pytest

from tests.world.levels import courtyard
from wayfold import World


@pytest.fixture(scope="module")
def opened():
    """A world that tests leave as they found it."""
    return World.from_mesh(courtyard(), name="courtyard", cache=False)


@pytest.fixture
def world():
    return World.from_mesh(courtyard(), name="courtyard", cache=False)
